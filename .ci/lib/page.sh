# Runs the commands of a Markdown page as a reader would: exactly as printed, in order, in one shell, with an empty HOME.
# shellcheck shell=bash

# run_page FILE [NAME=VALUE...]: the values are what the reader is told to have beforehand, nothing of our own environment.
# A page whose commands clone the repository begins in an empty folder, any other in a fresh clone.
run_page() {
  local page=$1 work blocks start rc=0 count
  shift
  work=$(mktemp -d "$RUN_DIR/page.XXXXXX")
  blocks="$work/blocks"
  mkdir "$blocks" "$work/home" "$work/empty"
  if ! check "$page: commands are marked" python3 .ci/lib/blocks.py "$page" "$blocks"; then return 1; fi
  if ! check "$page: fresh clone" git clone --quiet "$ROOT" "$work/clone"; then return 1; fi
  start="$work/clone"
  if grep -q '^ *git clone ' "$blocks"/*.sh; then start="$work/empty"; fi

  reader_env "$work" "$@"
  (cd "$start" && exec env -i "${READER_ENV[@]}" timeout 900 bash "$ROOT/.ci/reader.sh" "$blocks") \
    >"$work/output" 2>&1 </dev/null || rc=$?
  count=0
  local block title
  for block in "$blocks"/*.sh; do
    count=$((count + 1))
    title="$page: block $count"
    if [ -e "$block.ok" ]; then
      pass
      printf 'ok    %s\n' "$title"
    else
      fail "$title"
      sed 's/^/      $ /' "$block"
    fi
  done
  [ "$rc" -eq 0 ] && return 0
  printf '      exit %d; the end of the output:\n' "$rc"
  tail -n 60 "$work/output" | cut -c 1-400 | sed 's/^/      | /'
  return 1
}

# reader_env sets READER_ENV. Only what tells Go and git where to fetch from is handed on; the module and build caches
# are shared, since both are addressed by content. The public address of the repository leads to the fresh clone.
reader_env() { # WORK NAME=VALUE...
  local work=$1 name value
  shift
  READER_ENV=(HOME="$work/home" PATH="$PATH" LANG=C.UTF-8 TMPDIR="$RUN_DIR"
    GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0="url.$work/clone.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/claimonce/claimonce)
  for name in GOPROXY GOSUMDB GONOSUMDB GOPRIVATE GOFLAGS GOTOOLCHAIN GOMODCACHE GOCACHE; do
    value=$(go env "$name")
    [ -z "$value" ] || READER_ENV+=("$name=$value")
  done
  for name in SSL_CERT_FILE SSL_CERT_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || READER_ENV+=("$name=${!name}")
  done
  READER_ENV+=("$@")
}

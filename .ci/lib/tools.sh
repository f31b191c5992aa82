# Pinned tools, kept under a path that names their version, so that a new pin never meets an old binary.
# shellcheck shell=bash

CACHE="${XDG_CACHE_HOME:-$HOME/.cache}/claimonce"
# shellcheck source=/dev/null
. tools/versions.env

golangci_path() {
  # Built per Go release too: a linter built by an older Go refuses a module that asks for a newer one.
  printf '%s/golangci-lint/%s-%s/golangci-lint' "$CACHE" "$GOLANGCI_LINT_VERSION" "$(go env GOVERSION)"
}

need_golangci() {
  local path
  path=$(golangci_path)
  [ -x "$path" ] && return 0
  mkdir -p "${path%/*}" || return 1
  GOBIN=${path%/*} retry go install "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$GOLANGCI_LINT_VERSION"
}

need_modules() { retry go mod download; }

# venv_path NAME is where tools/python/NAME.txt is installed; its name changes with the lock file and the interpreter.
venv_path() {
  local digest
  digest=$({ cat "tools/python/$1.txt" && python3 -V; } | sha256sum | cut -c 1-16)
  printf '%s/venv/%s-%s' "$CACHE" "$1" "$digest"
}

need_venv() {
  local path
  path=$(venv_path "$1")
  [ -e "$path/complete" ] && return 0
  rm -rf "$path" # half an installation of a run that was ended
  python3 -m venv "$path" || return 1
  retry "$path/bin/python" -m pip install --quiet --require-hashes -r "tools/python/$1.txt" || return 1
  touch "$path/complete"
}

dynalite_path() {
  printf '%s/dynalite/%s' "$CACHE" "$(sha256sum tools/dynalite/package-lock.json | cut -c 1-16)"
}

need_dynalite() {
  local path
  path=$(dynalite_path)
  [ -e "$path/complete" ] && return 0
  mkdir -p "$path" || return 1
  cp tools/dynalite/package.json tools/dynalite/package-lock.json "$path/" || return 1
  # Its native part ships built inside the package, so no script of any package has to run.
  retry npm ci --prefix "$path" --ignore-scripts --no-audit --no-fund --loglevel=error || return 1
  touch "$path/complete"
}

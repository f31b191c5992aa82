"""Reference implementation of the digests of dedupe/fingerprint, scheme version 1.

It shares nothing with the Go package and uses only Python's standard library.
    python3 reference.py check    compares vectors.json with what this program computes
    python3 reference.py fill     writes canonical forms, schemes and digests into it
It favours shortness: it bounds neither depth nor size.
"""
import base64, hashlib, hmac, json, pathlib, sys
from decimal import Decimal


def field(data):
    return len(data).to_bytes(8, "big") + data


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def digest_bytes(secret, data):
    if secret is None:
        return hashlib.sha256(data).digest()
    return hmac.new(secret, data, hashlib.sha256).digest()


def scheme(cfg, secret):
    s = "1r" if cfg.get("format") == "raw" else "1j"
    s += "h" if secret is not None else ""
    volatile, select = cfg.get("volatile", []), cfg.get("select", "")
    if volatile or select or secret is not None:
        fields = ["claimonce/fingerprint/rules", select, *sorted(set(volatile))]
        s += "-" + b64(digest_bytes(secret, b"".join(field(f.encode()) for f in fields))[:6])
    return s + ("." + cfg["version"] if cfg.get("version") else "")


def pairs(members):
    if len({name for name, _ in members}) != len(members):
        raise ValueError("duplicate member")
    return dict(members)


def constant(text):
    raise ValueError("not JSON: " + text)


def parse(body):
    text = body.decode("utf-8")  # strict
    value = json.loads(text, object_pairs_hook=pairs, parse_int=Decimal, parse_float=Decimal, parse_constant=constant)
    json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")  # fails on lone surrogates
    return value


def number(value):
    sign, digits, exponent = value.as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    if not text:
        return "0"
    kept = text.rstrip("0")
    exponent += len(text) - len(kept)
    if abs(exponent) > 1000:
        raise ValueError("exponent")
    return ("-" if sign else "") + kept + (f"e{exponent}" if exponent else "")


def canonical(value):
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda m: m[0].encode("utf-8"))
        return "{" + ",".join(canonical(n) + ":" + canonical(v) for n, v in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, Decimal):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def tokens(pointer):
    return [t.replace("~1", "/").replace("~0", "~") for t in pointer.split("/")[1:]]


def children(value):
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list):
        return [(str(i), v) for i, v in enumerate(value)]
    return []


GONE = object()


def prune(value, pointers):
    if [] in pointers:
        return GONE
    kept = []
    for name, inner in children(value):
        inner = prune(inner, [p[1:] for p in pointers if p[0] in (name, "*")])
        if inner is not GONE:
            kept.append((name, inner))
    if isinstance(value, dict):
        return dict(kept)
    return [v for _, v in kept] if isinstance(value, list) else value


def content(cfg, body):
    if cfg.get("format") == "raw" or not body:
        if cfg.get("select"):
            raise ValueError("no body")
        return body
    value = parse(body)
    select = tokens(cfg.get("select", ""))
    pointers = [tokens(p) for p in cfg.get("volatile", [])]
    for i, token in enumerate(select):
        value = dict(children(value))[token]
        pointers = [p[1:] for p in pointers if p[0] in (token, "*")]
    pruned = prune(value, pointers)
    # What was an empty container counts as something; what became one does not.
    if pruned != value and not kept_leaves(value, pointers):
        raise ValueError("nothing left")
    return canonical(pruned).encode("utf-8")


def kept_leaves(value, pointers):
    if [] in pointers:
        return 0
    inner = children(value)
    if not inner:
        return 1
    return sum(kept_leaves(v, [p[1:] for p in pointers if p[0] in (n, "*")]) for n, v in inner)


def compute(vector):
    cfg, req = vector.get("config", {}), vector["request"]
    secret = bytes.fromhex(cfg["secret_hex"]) if "secret_hex" in cfg else None
    body = req["body"].encode("utf-8") if "body" in req else None
    if "body_hex" in req:
        body = bytes.fromhex(req["body_hex"])
    name, text = scheme(cfg, secret), content(cfg, body)
    data = b"".join(field(f.encode()) for f in [
        "claimonce/fingerprint", name, *(req.get(k, "") for k in ("tenant", "operation", "method", "path"))])
    data += b"\0" if body is None else b"\1" + field(text)
    return {"canonical_hex" if cfg.get("format") == "raw" else "canonical":
            None if text is None else text.hex() if cfg.get("format") == "raw" else text.decode("utf-8"),
            "digest": name + ":" + b64(digest_bytes(secret, data))}


def main():
    path = pathlib.Path(__file__).with_name("vectors.json")
    doc = json.loads(path.read_text("utf-8"))
    for vector in doc["vectors"]:
        want = compute(vector)
        if sys.argv[1:] == ["fill"]:
            vector.update(want)
        elif any(vector.get(k) != v for k, v in want.items()):
            sys.exit(f"{vector['name']}: got {vector}, want {want}")
    for vector in doc["refused"]:
        try:
            compute(vector)
        except (ValueError, KeyError, ArithmeticError):
            continue
        sys.exit(f"{vector['name']}: accepted")
    if sys.argv[1:] == ["fill"]:
        path.write_text(json.dumps(doc, indent=1) + "\n", "utf-8")
    print(len(doc["vectors"]), "vectors,", len(doc["refused"]), "refused")


main()

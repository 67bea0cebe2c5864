# Sourced by ./warren and ./check: `make_environment FILE` fills .venv from a pinned requirements
# file, once; later calls only compare a stamp. Sets `python`.

cache="${XDG_CACHE_HOME:-$HOME/.cache}/warren"
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}"  # a company's own authority is known to the system only

say() { echo "warren: $*" >&2; }

is_debian_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

find_uv() {
    command -v uv && return
    [ -x "$cache/uv/bin/uv" ] || install_uv >&2 || return 1
    echo "$cache/uv/bin/uv"
}

install_uv() {
    say "fetching uv, which installs the Python packages (once)"
    command -v python3 >/dev/null || { say "no python3 found: install Python 3.11, 3.12 or 3.13"; return 1; }
    mkdir -p "$cache"
    if ! python3 -m venv "$cache/uv" >/dev/null 2>&1; then
        is_debian_root || { say "python3 lacks venv; type: sudo apt-get install python3-venv"; return 1; }
        apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv
        python3 -m venv --clear "$cache/uv" || return 1
    fi
    "$cache/uv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes \
        -r requirements/uv.txt || { say "cannot fetch uv: see above"; return 1; }
}

stamp_of() { cksum <"$1"; }

# Is .venv what one of these requirements files makes it?
is_made() {
    local have="" want
    [ -x "$python" ] && [ -r .venv/stamp ] && have=$(cat .venv/stamp)
    for want in "$@"; do
        [ "$have" = "$(stamp_of "$want")" ] && return
    done
    return 1
}

make_environment() {
    python="$PWD/.venv/bin/python"
    is_made "$@" && return
    mkdir -p "$cache"
    exec 9>"$cache/environment.lock"
    flock 9 2>/dev/null || true  # not on every system; then two at once may both do the work
    is_made "$@" && return
    local uv
    uv=$(find_uv) || exit 1
    say "making the Python environment in .venv (once; about a minute)"
    rm -f .venv/stamp
    [ -x "$python" ] || "$uv" venv --quiet --clear --no-python-downloads --python '>=3.11,<3.14' .venv || {
        say "Warren needs Python 3.11, 3.12 or 3.13; on Debian/Ubuntu type: sudo apt-get install python3"
        exit 1
    }
    "$uv" pip sync --python "$python" --require-hashes "$1"
    stamp_of "$1" >.venv/stamp
    exec 9>&-
}

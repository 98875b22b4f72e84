#!/bin/bash
# with-chatelaine.sh CMD ARG...
# Runs CMD on a private session bus whose org.freedesktop.secrets is the broker, unlocked, with a passcode, and
# with Isolation=none unless CONFORMANCE_ISOLATION says otherwise. Everything lives in a temporary folder and is
# gone afterwards.
#
# CHATELAINE_PROGRAMS  the folder with chatelained and chatelaine  (.build/debug)
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs=${CHATELAINE_PROGRAMS:-$here/../../.build/debug}
passcode=conformance
[ $# -gt 0 ] || { echo "usage: $0 CMD ARG..." >&2; exit 64; }

dir=$(mktemp -d "${TMPDIR:-/tmp}/conf-chatelaine.XXXXXX")
chmod 700 "$dir"
pids=()
cleanup() {
  local p
  for p in "${pids[@]}"; do kill "$p" 2>/dev/null; done
  for p in "${pids[@]}"; do wait "$p" 2>/dev/null; done
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

mkdir -p "$dir/home" "$dir/run" "$dir/policy" "$dir/state"
chmod 700 "$dir/run" "$dir/state"
export HOME=$dir/home XDG_RUNTIME_DIR=$dir/run XDG_DATA_HOME=$dir/home/.local/share
export XDG_CONFIG_HOME=$dir/home/.config XDG_CACHE_HOME=$dir/home/.cache
unset DISPLAY WAYLAND_DISPLAY SSH_AUTH_SOCK
sed -e "s|@DIR@|$dir|" -e "s|@SERVICEDIRS@||" "$here/lib/session.conf.in" > "$dir/session.conf"
mkfifo "$dir/address"
dbus-daemon --config-file="$dir/session.conf" --nofork --nopidfile --print-address=1 \
  >"$dir/address" 2>"$dir/dbus.log" &
pids+=($!)
# Says it when it listens.
read -r DBUS_SESSION_BUS_ADDRESS <"$dir/address" || { cat "$dir/dbus.log" >&2; exit 1; }
export DBUS_SESSION_BUS_ADDRESS

sed "/^\[SecretService\]/,\$d; s|^\[Manager\]|[Manager]\nExecutable=$(readlink -f "$programs/chatelaine")|" \
  "$here/../../policy/50-chatelaine.conf" > "$dir/policy/50-chatelaine.conf"
# The portal's suite asks the backend from Python, and through the desktop's portal. Python shares what it stores with
# the suites' other programs, which nobody knows, as if nobody knew it either.
python=$(readlink -f /usr/bin/python3)
cat > "$dir/policy/60-conformance.conf" <<EOF
[Application org.chatelaine.ConformancePortal]
Executable=$python
AccessGroups=unidentified

[SecretService]
Isolation=${CONFORMANCE_ISOLATION:-none}
Portal=org.freedesktop.portal.Desktop org.chatelaine.ConformancePortal
EOF

"$programs/chatelained" --user --policy "$dir/policy" --state "$dir/state" --device-key "$dir/key" --no-socket \
  2>"$dir/broker.log" &
pids+=($!)
export CONFORMANCE_PROVIDER_PID=$!
# When it has that name it has org.freedesktop.secrets too.
gdbus wait --session --timeout 60 org.chatelaine.Broker1 ||
  { echo "the broker did not take its name:" >&2; cat "$dir/broker.log" >&2; exit 1; }
printf '%s\n%s\n' "$passcode" "$passcode" | "$programs/chatelaine" passcode set >"$dir/passcode.log" 2>&1 ||
  { echo "the passcode could not be set:" >&2; cat "$dir/passcode.log" >&2; exit 1; }
printf '#!/bin/sh\necho %s | exec %s unlock >/dev/null 2>&1\n' "$passcode" "$(readlink -f "$programs/chatelaine")" > "$dir/unlock"
chmod +x "$dir/unlock"
/usr/bin/python3 "$here/lib/prompter.py" "$dir/unlock" >"$dir/prompter.log" 2>&1 &
pids+=($!)
gdbus wait --session --timeout 60 org.chatelaine.Prompter1 || { cat "$dir/prompter.log" >&2; exit 1; }

export CONFORMANCE_PROVIDER=chatelaine CONFORMANCE_PASSWORD=$passcode CONFORMANCE_DIR=$dir
"$@"
rc=$?
if [ "${CONFORMANCE_SHOW_LOGS:-0}" = 1 ]; then tail -n 50 "$dir"/*.log >&2; fi
exit $rc

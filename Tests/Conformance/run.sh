#!/bin/bash
# run.sh [-v] [SUITE...]
# Runs every suite, or those named, against the broker: with the default isolation those in which one client reads what
# it stored, with Isolation=none those whose clients share, and libsecret's and SecretStorage's own tests against the
# broker's rooms with the objects that they expect. prepare.sh brings what the suites need; the rest is skipped.
#
# CHATELAINE_PROGRAMS  the folder with chatelained, chatelaine and FixtureService  (.build/debug)
set -u
home=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$home/../..")
CHATELAINE_PROGRAMS=$(realpath "${CHATELAINE_PROGRAMS:-$root/.build/debug}")
CONFORMANCE_CACHE=${CONFORMANCE_CACHE:-$root/.build/conformance}
export CHATELAINE_PROGRAMS CONFORMANCE_CACHE
export CONFORMANCE_FIXTURE_CMD=$CHATELAINE_PROGRAMS/FixtureService
# It is not among the programs that are installed.
[ -x "$CONFORMANCE_FIXTURE_CMD" ] || CONFORMANCE_FIXTURE_CMD=$root/.build/debug/FixtureService

options=()
if [ "${1-}" = -v ]; then options=(-v); shift; fi
chosen=" $* "

alone=(secret-tool secretstorage keyring keyring-cli git-credential-libsecret docker-credential-secretservice
    docker-go-tests rust-secret-service keyring-rs svn evolution-data-server libsecret-gi portal spec)
# One program stores there, or looks, and another reads.
shared=(msmtp pinentry-gnome3 qtkeychain chromium spec)
fixture=(fixture-objects fixture-secretstorage fixture-libsecret)

status=0
# part TITLE LOG COMMAND... -- SUITE...: those of the suites that were asked for.
part() {
    local title=$1 suites=() suite command=()
    export CONFORMANCE_LOG=$CONFORMANCE_CACHE/log/$2
    shift 2
    while [ "$1" != -- ]; do command+=("$1"); shift; done
    shift
    for suite in "$@"; do
        case $chosen in '  '|*" $suite "*) suites+=("$suite") ;; esac
    done
    [ ${#suites[@]} -gt 0 ] || return
    echo "-- $title"
    "${command[@]}" "$home/run-secretservice.sh" "${options[@]}" "${suites[@]}" || status=1
}

part 'Isolation=application' application \
    env CONFORMANCE_ISOLATION=application "$home/with-chatelaine.sh" -- "${alone[@]}"
part 'Isolation=none' none env CONFORMANCE_ISOLATION=none "$home/with-chatelaine.sh" -- "${shared[@]}"
part 'the objects of the fixtures' fixture \
    env CONFORMANCE_PROVIDER=chatelaine CONFORMANCE_PROMPTER=0 "$home/with-bus.sh" -- "${fixture[@]}"
exit $status

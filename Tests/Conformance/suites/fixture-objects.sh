#!/bin/bash
# Every object of every fixture, under its path, as the fixture command serves it.
. "${CONFORMANCE_HOME:?run this through run-secretservice.sh}/lib/t.sh"
[ "${CONFORMANCE_FIXTURE_CMD:-}" ] || { skip "CONFORMANCE_FIXTURE_CMD is not set"; finish; exit 0; }
for f in "$CONFORMANCE_HOME"/fixtures/*.json; do
  PYTHONPATH=$CONFORMANCE_HOME/spec "$CONFORMANCE_HOME/with-bus.sh" \
    "$PY" "$CONFORMANCE_HOME/lib/fixture-objects.py" "$f" >"$work/log" 2>&1
  d=
  while IFS= read -r l; do case "$l" in "ok "*) ok "${l#ok }";; "not ok "*) not_ok "${l#not ok }";; done) d=1;; *) echo "# $l";; esac; done <"$work/log"
  [ "$d" ] || not_ok "$(basename "$f") did not come to its end"
done
finish

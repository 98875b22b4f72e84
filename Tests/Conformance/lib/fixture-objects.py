#!/usr/bin/python3
"""fixture-objects.py FIXTURE.json - starts CONFORMANCE_FIXTURE_CMD with the fixture and looks at every object of it."""
import json
import os
import shlex
import signal
import subprocess
import sys

from client import COLLECTION, DH, ITEM, ROOT, SERVICE, Client, Error

name = os.path.basename(sys.argv[1])
with open(sys.argv[1]) as file:
    fixture = json.load(file)


def t(what, got, wanted):
    print('ok' if got == wanted else 'not ok', f'{name}: {what}', '' if got == wanted else f'-- {got!r}, not {wanted!r}')


def path(collection, item=None):
    return '/'.join(filter(None, (ROOT, 'collection', collection['id'], item and item['id'])))


def look(client):
    collections = fixture['collections']
    t('collections', sorted(client.collections()), sorted(map(path, collections)))
    for alias, id in fixture['aliases'].items():
        t(f'alias {alias}', client.call(ROOT, SERVICE, 'ReadAlias', 's', alias), (path({'id': id}),))
    for c in collections:
        for what in ('label', 'locked'):
            t(f"{c['id']} {what}", client.get(path(c), COLLECTION, what.title())[1], c[what])
        paths = [path(c, i) for i in c['items']]
        t(f"{c['id']} items", sorted(client.get(path(c), COLLECTION, 'Items')[1]), sorted(paths))
        for i in c['items']:
            got = client.getall(path(c, i), ITEM)
            t(f"{c['id']}/{i['id']}", (got['Label'][1], got['Attributes'][1], got['Locked'][1]),
              (i['label'], i['attributes'], c['locked']))
    try:
        session = client.open_dh()
        t('an encrypted session', DH in fixture['algorithms'], True)
    except Error as error:
        session = client.open_plain()
        t('no encrypted session', (DH in fixture['algorithms'], error.name),
          (False, 'org.freedesktop.DBus.Error.NotSupported'))
    locked = [path(c) for c in collections if c['locked']]
    t('what is locked opens by itself', sorted(client.unlock(*locked)), sorted(locked))
    for c in collections:
        for i in c['items']:
            t(f"{c['id']}/{i['id']} secret", client.secret(path(c, i), session), i['secret'].encode())


command = shlex.split(os.environ['CONFORMANCE_FIXTURE_CMD'])
provider = subprocess.Popen([*command, sys.argv[1]], stdout=subprocess.PIPE, text=True)
try:
    t('its first line is its bus name', provider.stdout.readline().startswith(':'), True)
    client = Client()
    look(client)
    client.close()
finally:
    provider.send_signal(signal.SIGTERM)
    t('it ends at SIGTERM', provider.wait(), 0)
print('done')

#!/usr/bin/python3
"""libsecret through GObject introspection, against the service on the bus."""
import os
import unittest

import gi
gi.require_version('Secret', '1')
from gi.repository import Gio, GLib, Secret  # noqa: E402

NOPROMPT = os.environ.get('CONFORMANCE_NO_PROMPTS') == '1'
A = Secret.SchemaAttributeType
SCHEMA = Secret.Schema.new('org.example.Conformance', Secret.SchemaFlags.NONE,
                           {'user': A.STRING, 'port': A.INTEGER, 'tls': A.BOOLEAN, 'run': A.STRING})
LOOSE = Secret.Schema.new('org.example.Loose', Secret.SchemaFlags.DONT_MATCH_NAME,
                          {'user': A.STRING, 'run': A.STRING})
RUN = str(os.getpid())


def attrs(**k):
    return dict(k, run=RUN)


class PasswordAPI(unittest.TestCase):
    def tearDown(self):
        Secret.password_clear_sync(SCHEMA, {'run': RUN}, None)
        Secret.password_clear_sync(LOOSE, {'run': RUN}, None)

    def test_store_lookup_clear(self):
        a = attrs(user='u', port='25', tls='true')
        self.assertTrue(Secret.password_store_sync(SCHEMA, a, Secret.COLLECTION_DEFAULT, 'L', 'pw ☃', None))
        self.assertEqual(Secret.password_lookup_sync(SCHEMA, a, None), 'pw ☃')
        self.assertEqual(Secret.password_lookup_sync(SCHEMA, attrs(user='u'), None), 'pw ☃')
        self.assertIsNone(Secret.password_lookup_sync(SCHEMA, attrs(user='v'), None))
        self.assertTrue(Secret.password_clear_sync(SCHEMA, a, None))
        self.assertFalse(Secret.password_clear_sync(SCHEMA, a, None))
        self.assertIsNone(Secret.password_lookup_sync(SCHEMA, a, None))

    def test_store_twice_replaces(self):
        for pw in ('one', 'two'):
            Secret.password_store_sync(SCHEMA, attrs(user='r'), Secret.COLLECTION_DEFAULT, pw, pw, None)
        items = Secret.password_search_sync(SCHEMA, attrs(user='r'), Secret.SearchFlags.ALL, None)
        self.assertEqual([i.get_label() for i in items], ['two'])

    def test_schema_name_separates(self):
        Secret.password_store_sync(SCHEMA, attrs(user='s'), Secret.COLLECTION_DEFAULT, 'L', 'strict', None)
        other = Secret.Schema.new('org.example.Other', Secret.SchemaFlags.NONE, {'user': A.STRING, 'run': A.STRING})
        self.assertIsNone(Secret.password_lookup_sync(other, attrs(user='s'), None))
        self.assertEqual(Secret.password_lookup_sync(LOOSE, attrs(user='s'), None), 'strict')

    def test_session_collection(self):
        Secret.password_store_sync(SCHEMA, attrs(user='mem'), Secret.COLLECTION_SESSION, 'L', 'volatile', None)
        self.assertEqual(Secret.password_lookup_sync(SCHEMA, attrs(user='mem'), None), 'volatile')

    def test_content_type(self):
        v = Secret.Value.new('<a/>', -1, 'text/xml')
        self.assertTrue(Secret.password_store_binary_sync(SCHEMA, attrs(user='xml'), Secret.COLLECTION_DEFAULT, 'L', v, None))
        item, = Secret.password_search_sync(SCHEMA, attrs(user='xml'), Secret.SearchFlags.ALL, None)
        # As bytes: get_text() is for text/plain, which gnome-keyring makes of every type.
        self.assertEqual(bytes(item.retrieve_secret_sync(None).get()), b'<a/>')

    def test_search_with_secrets(self):
        for n in range(5):
            Secret.password_store_sync(SCHEMA, attrs(user=str(n)), Secret.COLLECTION_DEFAULT, str(n), 'pw%d' % n, None)
        f = Secret.SearchFlags
        items = Secret.password_search_sync(SCHEMA, {'run': RUN}, f.ALL | f.LOAD_SECRETS | f.UNLOCK, None)
        self.assertEqual(sorted(i.retrieve_secret_sync(None).get_text() for i in items), ['pw%d' % n for n in range(5)])

    def test_async(self):
        loop, out = GLib.MainLoop(), {}

        def stored(_o, r):
            out['stored'] = Secret.password_store_finish(r)
            Secret.password_lookup(SCHEMA, attrs(user='async'), None, looked)

        def looked(_o, r):
            out['got'] = Secret.password_lookup_finish(r)
            loop.quit()
        Secret.password_store(SCHEMA, attrs(user='async'), Secret.COLLECTION_DEFAULT, 'L', 'later', None, stored)
        GLib.timeout_add_seconds(20, loop.quit)
        loop.run()
        self.assertEqual(out, {'stored': True, 'got': 'later'})


class ServiceAPI(unittest.TestCase):
    def setUp(self):
        f = Secret.ServiceFlags
        self.service = Secret.Service.get_sync(f.OPEN_SESSION | f.LOAD_COLLECTIONS, None)

    def tearDown(self):
        Secret.Service.disconnect()

    def test_session_is_encrypted(self):
        self.assertEqual(self.service.get_session_algorithms(), 'dh-ietf1024-sha256-aes128-cbc-pkcs7')

    def test_collections_load(self):
        cols = self.service.get_collections()
        self.assertTrue(cols)
        for c in cols:
            self.assertTrue(c.get_object_path().startswith('/org/freedesktop/secrets/collection/'))
            self.assertGreaterEqual(c.get_modified(), 0)

    def test_default_alias(self):
        c = Secret.Collection.for_alias_sync(self.service, Secret.COLLECTION_DEFAULT, Secret.CollectionFlags.LOAD_ITEMS, None)
        self.assertIsNotNone(c)
        self.assertIsNone(Secret.Collection.for_alias_sync(self.service, 'no-such', Secret.CollectionFlags.NONE, None))

    def test_item_life(self):
        c = Secret.Collection.for_alias_sync(self.service, Secret.COLLECTION_DEFAULT, Secret.CollectionFlags.LOAD_ITEMS, None)
        v = Secret.Value.new('pw', -1, 'text/plain')
        i = Secret.Item.create_sync(c, SCHEMA, attrs(user='item'), 'Label', v, Secret.ItemCreateFlags.NONE, None)
        self.assertEqual(i.get_label(), 'Label')
        self.assertEqual(i.get_attributes()['user'], 'item')
        self.assertEqual(i.get_schema_name(), 'org.example.Conformance')
        self.assertFalse(i.get_locked())
        i.set_label_sync('New', None)
        self.assertEqual(i.get_label(), 'New')
        i.set_secret_sync(Secret.Value.new('pw2', -1, 'text/plain'), None)
        i.load_secret_sync(None)
        self.assertEqual(i.get_secret().get_text(), 'pw2')
        found = c.search_sync(SCHEMA, attrs(user='item'), Secret.SearchFlags.ALL, None)
        self.assertEqual([x.get_object_path() for x in found], [i.get_object_path()])
        self.assertTrue(i.delete_sync(None))
        self.assertEqual(c.search_sync(SCHEMA, attrs(user='item'), Secret.SearchFlags.ALL, None), [])

    def test_items_property_follows(self):
        """A loaded collection learns of a new item by signal alone."""
        c = Secret.Collection.for_alias_sync(self.service, Secret.COLLECTION_DEFAULT, Secret.CollectionFlags.LOAD_ITEMS, None)
        before = len(c.get_items())
        # another client, so that only signals can tell
        import subprocess
        subprocess.run(['secret-tool', 'store', '--label=x', 'run', RUN, 'user', 'other'], input=b'x', check=True)
        ctx = GLib.MainContext.default()
        end = GLib.get_monotonic_time() + 5_000_000
        while len(c.get_items()) == before and GLib.get_monotonic_time() < end:
            ctx.iteration(False)
            GLib.usleep(1000)
        after = len(c.get_items())
        subprocess.run(['secret-tool', 'clear', 'run', RUN, 'user', 'other'], check=True)
        self.assertEqual(after, before + 1)

    @unittest.skipIf(NOPROMPT, 'prompts are off')
    def test_z_create_lock_unlock_delete_collection(self):
        c = Secret.Collection.create_sync(self.service, 'GI ' + RUN, None, Secret.CollectionCreateFlags.NONE, None)
        self.assertEqual(c.get_label(), 'GI ' + RUN)
        Secret.Item.create_sync(c, SCHEMA, attrs(user='c'), 'L', Secret.Value.new('pw', -1, 'text/plain'),
                                Secret.ItemCreateFlags.NONE, None)
        n, locked = self.service.lock_sync([c], None)
        self.assertEqual(n, 1)
        found = self.service.search_sync(SCHEMA, attrs(user='c'), Secret.SearchFlags.ALL, None)
        self.assertTrue(found[0].get_locked())
        n, unlocked = self.service.unlock_sync([c], None)
        self.assertEqual(n, 1)
        c.set_label_sync('GI renamed', None)
        self.assertEqual(c.get_label(), 'GI renamed')
        self.assertTrue(c.delete_sync(None))


if __name__ == '__main__':
    unittest.main(verbosity=2)

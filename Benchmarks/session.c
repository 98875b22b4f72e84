/* The client's end of a session: x25519-hkdf-sha256-chacha20poly1305 of the contract. */
#include "bench.h"
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const char algorithm[] = "x25519-hkdf-sha256-chacha20poly1305";
static const char info[] = "chatelaine-session-1";

/* HKDF-SHA256 from HMAC, since libsodium has its own only from 1.0.19 on. One block gives 32 bytes. */
static void derive(unsigned char key[KEY_BYTES], const unsigned char extracted[KEY_BYTES], char direction)
{
    const unsigned char block = 1;
    crypto_auth_hmacsha256_state h;
    crypto_auth_hmacsha256_init(&h, extracted, KEY_BYTES);
    crypto_auth_hmacsha256_update(&h, (const unsigned char *)info, sizeof info - 1);
    crypto_auth_hmacsha256_update(&h, (const unsigned char *)&direction, 1);
    crypto_auth_hmacsha256_update(&h, &block, 1);
    crypto_auth_hmacsha256_final(&h, key);
}

static void agree(struct session *s, const unsigned char *own_secret, const unsigned char *own_public,
                  const unsigned char *broker_public)
{
    unsigned char shared[KEY_BYTES], salt[2 * KEY_BYTES], extracted[KEY_BYTES];
    if (crypto_scalarmult(shared, own_secret, broker_public) != 0)
        die("the broker's public key gives no shared secret", 0, NULL);
    memcpy(salt, own_public, KEY_BYTES);
    memcpy(salt + KEY_BYTES, broker_public, KEY_BYTES);
    crypto_auth_hmacsha256_state h;
    crypto_auth_hmacsha256_init(&h, salt, sizeof salt);
    crypto_auth_hmacsha256_update(&h, shared, sizeof shared);
    crypto_auth_hmacsha256_final(&h, extracted);
    derive(s->send_key, extracted, 'c');
    derive(s->receive_key, extracted, 'b');
}

static void ask_for_session(struct session *s, sd_bus *bus, const struct service *service)
{
    unsigned char own_public[KEY_BYTES], own_secret[KEY_BYTES];
    crypto_box_keypair(own_public, own_secret);
    sd_bus_message *m = call_new(bus, service, "OpenSession");
    must(sd_bus_message_append(m, "s", algorithm), "append");
    must(sd_bus_message_open_container(m, 'v', "ay"), "append");
    must(sd_bus_message_append_array(m, 'y', own_public, sizeof own_public), "append");
    must(sd_bus_message_close_container(m), "append");
    sd_bus_message *reply = call_send(bus, m, "OpenSession");
    const void *broker_public;
    const char *path;
    size_t length;
    must(sd_bus_message_enter_container(reply, 'v', "ay"), "OpenSession: output");
    must(sd_bus_message_read_array(reply, 'y', &broker_public, &length), "OpenSession: output");
    must(sd_bus_message_exit_container(reply), "OpenSession: output");
    must(sd_bus_message_read(reply, "o", &path), "OpenSession: session");
    if (length != KEY_BYTES)
        die("OpenSession: the public key has another length", 0, NULL);
    snprintf(s->path, sizeof s->path, "%s", path);
    agree(s, own_secret, own_public, broker_public);
    sd_bus_message_unref(reply);
}

void session_open(struct session *s, sd_bus *bus, const struct service *service)
{
    memset(s, 0, sizeof *s);
    if (service->plain) {
        s->plain = true;
        snprintf(s->path, sizeof s->path, "%s", "/");
        return;
    }
    if (service->real) {
        ask_for_session(s, bus, service);
        return;
    }
    snprintf(s->path, sizeof s->path, "%s", "/org/chatelaine/Broker1/session/1");
    randombytes_buf(s->send_key, sizeof s->send_key);
}

static void nonce_of(unsigned char nonce[NONCE_BYTES], uint64_t counter)
{
    memset(nonce, 0, NONCE_BYTES);
    for (unsigned k = 0; k < 8; k++)
        nonce[4 + k] = (unsigned char)(counter >> (56 - 8 * k));
}

static uint64_t counter_of(const unsigned char *nonce)
{
    uint64_t counter = 0;
    for (unsigned k = 0; k < 8; k++)
        counter = counter << 8 | nonce[4 + k];
    return counter;
}

void session_append_secret(struct session *s, sd_bus_message *m, const unsigned char secret[SECRET_BYTES])
{
    unsigned char nonce[NONCE_BYTES], sealed[SEALED_BYTES];
    nonce_of(nonce, ++s->sent);
    const unsigned char *path = (const unsigned char *)s->path;
    crypto_aead_chacha20poly1305_ietf_encrypt(sealed, NULL, secret, SECRET_BYTES, path, strlen(s->path), NULL,
                                              nonce, s->send_key);
    must(sd_bus_message_open_container(m, 'r', "oayay"), "append");
    must(sd_bus_message_append(m, "o", s->path), "append");
    must(sd_bus_message_append_array(m, 'y', nonce, sizeof nonce), "append");
    must(sd_bus_message_append_array(m, 'y', sealed, sizeof sealed), "append");
    must(sd_bus_message_close_container(m), "append");
}

static void unseal(const struct session *s, const void *nonce, const void *sealed, unsigned char *secret)
{
    if (crypto_aead_chacha20poly1305_ietf_decrypt(secret, NULL, NULL, sealed, SEALED_BYTES,
                                                  (const unsigned char *)s->path, strlen(s->path), nonce,
                                                  s->receive_key) != 0)
        die("a reply's secret does not open", 0, NULL);
}

/* Looks at what a reply's secret has beside the secret itself. */
static void check_secret(struct session *s, const void *nonce, size_t nonce_bytes, size_t sealed_bytes)
{
    if (nonce_bytes != (s->plain ? 0 : NONCE_BYTES) || sealed_bytes != (s->plain ? SECRET_BYTES : SEALED_BYTES))
        die("a reply's secret has another length", 0, NULL);
    if (s->plain)
        return;
    uint64_t counter = counter_of(nonce);
    if (counter <= s->received)
        die("a reply's nonce did not grow", 0, NULL);
    s->received = counter;
}

void session_read_secret(struct session *s, sd_bus_message *m, unsigned char secret[SECRET_BYTES])
{
    const char *path;
    const void *nonce, *sealed;
    size_t nonce_bytes, sealed_bytes;
    must(sd_bus_message_enter_container(m, 'r', "oayay"), "a reply's secret");
    must(sd_bus_message_read(m, "o", &path), "a reply's secret");
    must(sd_bus_message_read_array(m, 'y', &nonce, &nonce_bytes), "a reply's secret");
    must(sd_bus_message_read_array(m, 'y', &sealed, &sealed_bytes), "a reply's secret");
    must(sd_bus_message_exit_container(m), "a reply's secret");
    check_secret(s, nonce, nonce_bytes, sealed_bytes);
    if (!secret)
        return;
    if (strcmp(path, s->path) != 0)
        die("a reply names another session", 0, NULL);
    if (s->plain)
        memcpy(secret, sealed, SECRET_BYTES);
    else
        unseal(s, nonce, sealed, secret);
}

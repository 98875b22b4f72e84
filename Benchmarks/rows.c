/* The floor of durable writes: one SQLite commit a row, on the disk that the broker's store is on. */
#include "bench.h"
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/* About what an item of the bench takes: sealed attributes, a sealed secret and its keys, an index entry. */
#define BODY_BYTES 640
#define TOKEN_BYTES 32
#define ROWS_AT_START 10000

struct rows {
    sqlite3 *file;
    sqlite3_stmt *insert;
};

static void run(struct rows *r, const char *statement)
{
    if (sqlite3_exec(r->file, statement, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(r->file), 0, NULL);
}

static void insert(struct rows *r)
{
    unsigned char token[TOKEN_BYTES], body[BODY_BYTES];
    randombytes_buf(token, sizeof token);
    randombytes_buf(body, sizeof body);
    sqlite3_bind_blob(r->insert, 1, token, sizeof token, SQLITE_STATIC);
    sqlite3_bind_blob(r->insert, 2, body, sizeof body, SQLITE_STATIC);
    if (sqlite3_step(r->insert) != SQLITE_DONE || sqlite3_reset(r->insert) != SQLITE_OK)
        die(sqlite3_errmsg(r->file), 0, NULL);
}

struct rows *rows_open(const char *folder)
{
    char path[4096];
    struct rows *r = calloc(1, sizeof *r);
    snprintf(path, sizeof path, "%s/rows.db", folder);
    if (!r || sqlite3_open(path, &r->file) != SQLITE_OK)
        die("the file for SQLite's commits cannot be opened", 0, NULL);
    run(r, "pragma journal_mode=wal; pragma synchronous=full;"
           "pragma foreign_keys=on; pragma secure_delete=on");
    run(r, "create table row (id integer primary key, token blob not null, body blob not null);"
           "create index row_token on row (token); begin");
    if (sqlite3_prepare_v2(r->file, "insert into row (token, body) values (?, ?)", -1, &r->insert, NULL))
        die(sqlite3_errmsg(r->file), 0, NULL);
    for (int k = 0; k < ROWS_AT_START; k++)
        insert(r);
    run(r, "commit");
    return r;
}

uint64_t rows_commit(struct client *c, const struct service *)
{
    uint64_t start = now_ns();
    insert(c->rows);
    return now_ns() - start;
}

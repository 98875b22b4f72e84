#pragma once
#include <sqlite3.h>

// SQLITE_STATIC is a cast macro, which Swift does not import.
static inline int shim_bind_blob_static(sqlite3_stmt *s, int i, const void *p, sqlite3_uint64 n) {
    return sqlite3_bind_blob64(s, i, p, n, SQLITE_STATIC);
}

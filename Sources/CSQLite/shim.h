#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast macro, which Swift does not import.
static inline int shim_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
static inline int shim_bind_text(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, text, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// sqlite3_config is variadic, which Swift does not import.
static inline int shim_count_no_memory(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

#pragma once
#include <curl/curl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

// curl_easy_setopt and curl_easy_getinfo are variadic, which Swift does not import.

static inline CURLcode chatelaine_curl_set_long(CURL *curl, CURLoption option, long value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode chatelaine_curl_set_pointer(CURL *curl, CURLoption option, const void *value) {
    return curl_easy_setopt(curl, option, value);
}

static inline CURLcode chatelaine_curl_set_writer(CURL *curl, curl_write_callback writer) {
    return curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, writer);
}

static inline CURLcode chatelaine_curl_status(CURL *curl, long *status) {
    return curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
}

// libcurl copies what it sends and receives into buffers of its own. These wipe them.

static inline void chatelaine_wiping_free(void *memory) {
    if (memory == NULL) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static inline void *chatelaine_wiping_realloc(void *memory, size_t size) {
    void *larger = malloc(size);
    if (memory == NULL || larger == NULL) return larger;
    size_t old = malloc_usable_size(memory);
    memcpy(larger, memory, old < size ? old : size);
    chatelaine_wiping_free(memory);
    return larger;
}

static inline CURLcode chatelaine_curl_start(void) {
    return curl_global_init_mem(
        CURL_GLOBAL_DEFAULT, malloc, chatelaine_wiping_free, chatelaine_wiping_realloc, strdup, calloc);
}

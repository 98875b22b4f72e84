#pragma once
#include <gcrypt.h>

// gcry_control is variadic, which Swift does not import.

static inline gcry_error_t chatelaine_gcrypt_start(unsigned int secure_bytes) {
    // What the library's own programs warn of is said of our secret memory, by us.
    gcry_error_t error = gcry_control(GCRYCTL_DISABLE_SECMEM_WARN, 0);
    if (!error) error = gcry_control(GCRYCTL_INIT_SECMEM, secure_bytes, 0);
    if (!error) error = gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return error;
}

static inline int chatelaine_gcrypt_is_started(void) {
    return gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P, 0) != 0;
}

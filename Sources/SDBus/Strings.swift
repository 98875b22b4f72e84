internal import Glibc

/// Frees a NULL-terminated array of C strings and the strings.
func freeStrings(_ strings: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) {
    var index = 0
    while let string = unsafe strings[index] {
        unsafe free(string)
        index += 1
    }
    unsafe free(strings)
}

/// A NULL-terminated array of C strings that C code frees; nil when memory ran out.
func makeStrings(_ values: [String]) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    let size = unsafe MemoryLayout<UnsafeMutablePointer<CChar>?>.stride
    guard let memory = unsafe calloc(values.count + 1, size) else { return nil }
    let strings = unsafe memory.bindMemory(to: UnsafeMutablePointer<CChar>?.self, capacity: values.count + 1)
    for (index, value) in values.enumerated() {
        unsafe strings[index] = strdup(value)
    }
    return unsafe strings
}

/// Nil for a null pointer.
func string(_ pointer: UnsafePointer<CChar>?) -> String? {
    unsafe pointer.map { unsafe String(cString: $0) }
}

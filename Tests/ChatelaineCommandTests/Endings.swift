import TestKit

/// How a child ends, which it must.
func ended(_ child: ChildProcess) async throws -> ChildProcess.Status {
    try await within("the end of a child") { await child.waitForExit() }
}

/// All that a child still writes until it ends.
func rest(_ child: ChildProcess) async throws -> String {
    try await within("the rest of a child's output") { await child.output.rest() }
}

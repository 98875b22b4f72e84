/// The names of the portal's backends.
enum PortalName {
    static let object = "/org/freedesktop/portal/desktop"
    /// What the portal asks for is below it.
    static let requests = object + "/request"

    static let secret = "org.freedesktop.impl.portal.Secret"
    static let request = "org.freedesktop.impl.portal.Request"
}

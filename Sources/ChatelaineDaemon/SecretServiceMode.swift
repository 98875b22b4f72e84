/// What `SecretService=` says.
enum SecretServiceMode: String {
    /// Serve it where that takes nothing from another keyring: nobody owns the name, and the bus would start nobody else.
    case alone = "auto"
    /// Serve it, in line behind whoever has the name.
    case always = "yes"
    case never = "no"
}

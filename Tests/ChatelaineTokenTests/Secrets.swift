import Chatelaine

/// A secret of a test's.
func secret(_ text: String) -> SharedSecret { SharedSecret(Secret(text)) }

func secret(_ bytes: [UInt8]) -> SharedSecret { SharedSecret(Secret(bytes)) }

/// A copy of a test's secret.
func bytes(_ secret: SharedSecret) -> [UInt8] { secret.secret.bytes() }

func text(_ secret: SharedSecret?) -> String? { secret?.secret.text() }

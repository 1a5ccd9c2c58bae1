//! Addresses on the command line at which a program listens.

use std::net::SocketAddr;

/// Reads an address with a port.
///
/// # Errors
///
/// What was expected, and what was meant, where that can be told.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let port = text
            .strip_prefix("localhost:")
            .or(text.strip_prefix(':'))
            .unwrap_or(text);
        let meant = match port.parse::<u16>() {
            Ok(port) => format!("; did you mean 127.0.0.1:{port}?"),
            Err(_) => String::new(),
        };
        format!("expected an IP address and a port, as in 127.0.0.1:8080 or [::]:8080{meant}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port() {
        for text in ["127.0.0.1:0", "[::1]:8080"] {
            assert_eq!(parse_address(text).unwrap().to_string(), text);
        }
        for (text, says) in [
            ("here", "expected an IP address and a port"),
            ("127.0.0.1", "as in 127.0.0.1:8080"),
            ("8080", "did you mean 127.0.0.1:8080?"),
            (":8080", "did you mean 127.0.0.1:8080?"),
            ("localhost:8080", "did you mean 127.0.0.1:8080?"),
        ] {
            let why = parse_address(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}

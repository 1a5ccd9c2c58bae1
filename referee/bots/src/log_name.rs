//! The names of the files that keep what bots print.

use referee_core::file_name;

/// The name of a bot's log in a set of processes. The processes of a set that are started after the
/// first add their number: `NAME-2.log`.
pub(crate) fn log_name(bot: &str, set: u64) -> String {
    let name = file_name(bot);
    match set {
        0 => format!("{name}.log"),
        set => format!("{name}-lot{set}.log"),
    }
}

/// True if a file of this name is a log of this bot, of any of its processes.
#[must_use]
pub fn is_log_of(bot: &str, file: &str) -> bool {
    let is_number = |part: &str| {
        let digits = part.strip_prefix("lot").unwrap_or(part);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let rest = file.strip_prefix(&file_name(bot));
    rest.and_then(|rest| rest.strip_suffix(".log"))
        .is_some_and(|rest| {
            rest.split('-').skip(1).all(is_number) && !rest.starts_with(|c| c != '-')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_known_by_its_name() {
        for file in [
            log_name("bob", 0),
            log_name("bob", 3),
            "bob-2.log".to_owned(),
            "bob-lot3-2.log".to_owned(),
        ] {
            assert!(is_log_of("bob", &file), "{file}");
        }
        for other in [
            "bob",
            "bob.txt",
            "bobby.log",
            "bob-x.log",
            "bob-.log",
            "ann.log",
        ] {
            assert!(!is_log_of("bob", other), "{other}");
        }
    }
}

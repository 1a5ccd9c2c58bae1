//! A strategy's SPEC, `PATH?parameter=value&…`, and what its file shows without being
//! loaded.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    num::NonZeroU32,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The form of a SPEC of a strategy, for messages.
pub const EXPECTED: &str = "expected strategy:FILE.so, with ?clock-scale=1000, max-games=4 or \
                            keeps-globals where they are needed";

/// A compiled strategy and how it is to be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strategy {
    /// The shared object.
    pub path: PathBuf,
    /// `clock-scale`: `clock()` counts so many times slower for the strategy, 1
    /// by default.
    pub clock_scale: NonZeroU32,
    /// `max-games`: how many games one adapter plays at once, 1 by default.
    pub max_games: NonZeroU32,
    /// `keeps-globals`: it keeps the game in globals from its first move on, so it
    /// can't begin with stones on the board, nor be resumed mid-game.
    pub keeps_globals: bool,
}

/// Reason why a strategy can't be played.
#[derive(Debug, thiserror::Error)]
pub enum StrategyError {
    /// No file is named.
    #[error("no file is named")]
    Nameless,
    /// A parameter that does not exist.
    #[error(
        "there is no parameter \"{0}\"; there are clock-scale, max-games and keeps-globals (and a file with a question mark in its name is written with one more behind it)"
    )]
    Parameter(String),
    /// The parameter's value is invalid.
    #[error("{parameter}={value}: expected {expected}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// It is not named like a shared object.
    #[error(
        "{0}: a strategy is a shared object, FILE.so; compile the source with \
         g++ -shared -fPIC -O2 -o FILE.so FILE.cpp"
    )]
    Suffix(PathBuf),
    /// It can't be read.
    #[error("{path}: could not be read: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// It is another kind of file.
    #[error(
        "{path}: it is {found}; expected a shared object for Linux on {}, as \
         g++ -shared -fPIC -O2 makes it on this machine",
        std::env::consts::ARCH
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The kind of file that it is.
        found: String,
    },
}

impl Strategy {
    /// Its name for people: the file's name without its ending.
    #[must_use]
    pub fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// Looks at the file without loading it.
    ///
    /// # Errors
    ///
    /// It does not exist, or is not a shared object for this machine.
    pub fn look(&self) -> Result<(), StrategyError> {
        let path = self.path.clone();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.ends_with(".so") && !name.contains(".so.") {
            return Err(StrategyError::Suffix(path));
        }
        // Reading another kind of file could block.
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            let found = "no ordinary file".to_owned();
            return Err(StrategyError::Kind { path, found });
        }
        let mut header = Vec::new();
        #[expect(
            clippy::disallowed_methods,
            reason = "it is an ordinary file, read within bounds"
        )]
        let read = File::open(&path).and_then(|file| file.take(20).read_to_end(&mut header));
        match read.map(|_| not_a_shared_object(&header)) {
            Err(error) => Err(StrategyError::Read { path, error }),
            Ok(Some(found)) => Err(StrategyError::Kind { path, found }),
            Ok(None) => Ok(()),
        }
    }

    /// True if it calls `clock()` and no `clock-scale` is given: one that expects milliseconds
    /// thinks a thousand times too short here, and no error shows it.
    #[must_use]
    pub fn trusts_clock(&self) -> bool {
        self.clock_scale == NonZeroU32::MIN && has_bytes(&self.path, b"\0clock\0")
    }
}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(spec: &str) -> Result<Self, StrategyError> {
        // A path may contain a question mark, a value can't.
        let (path, query) = spec.rsplit_once('?').unwrap_or((spec, ""));
        if path.is_empty() {
            return Err(StrategyError::Nameless);
        }
        let mut strategy = Self {
            path: path.into(),
            clock_scale: NonZeroU32::MIN,
            max_games: NonZeroU32::MIN,
            keeps_globals: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (parameter, value) = pair.split_once('=').unwrap_or((pair, ""));
            match parameter {
                "clock-scale" => strategy.clock_scale = count("clock-scale", value)?,
                "max-games" => strategy.max_games = count("max-games", value)?,
                "keeps-globals" if value.is_empty() => strategy.keeps_globals = true,
                "keeps-globals" => {
                    return Err(StrategyError::Value {
                        parameter: "keeps-globals",
                        value: value.to_owned(),
                        expected: "no value",
                    });
                }
                other => return Err(StrategyError::Parameter(other.to_owned())),
            }
        }
        Ok(strategy)
    }
}

/// In the form that `from_str` reads.
impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}?clock-scale={}&max-games={}{}",
            self.path.display(),
            self.clock_scale,
            self.max_games,
            if self.keeps_globals {
                "&keeps-globals"
            } else {
                ""
            }
        )
    }
}

fn count(parameter: &'static str, value: &str) -> Result<NonZeroU32, StrategyError> {
    value.parse().map_err(|_| StrategyError::Value {
        parameter,
        value: value.to_owned(),
        expected: "a whole number from 1",
    })
}

/// True if the file has this name among its symbols, mangled as C++ does it where `extern "C"` was
/// forgotten.
pub(crate) fn has_mangled(path: &Path, name: &str) -> bool {
    let mangled = format!("_Z{}{name}", name.len());
    has_bytes(path, mangled.as_bytes())
}

fn has_bytes(path: &Path, wanted: &[u8]) -> bool {
    /// Number of bytes of a file that are searched at most: more than any strategy has.
    const MOST: u64 = 64 * 1024 * 1024;
    let mut bytes = Vec::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "it is an ordinary file, read within bounds"
    )]
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut bytes));
    read.is_ok_and(|_| bytes.windows(wanted.len()).any(|window| window == wanted))
}

/// The kind of a file with this header, if it is not a shared object for this machine (elf(5)).
fn not_a_shared_object(header: &[u8]) -> Option<String> {
    if header.starts_with(b"MZ") {
        return Some("a program or DLL for Windows".to_owned());
    }
    if !header.starts_with(b"\x7fELF") || header.len() < 20 {
        return Some("no ELF file".to_owned());
    }
    let little = cfg!(target_endian = "little");
    let half = |at: usize| {
        let bytes = [header[at], header[at + 1]];
        if header[5] == 1 {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        }
    };
    let (bits, order) = (header[4], header[5]);
    let machine = match half(18) {
        3 => "x86 (32 bits)",
        40 => "arm (32 bits)",
        62 => "x86_64",
        183 => "aarch64",
        243 => "riscv64",
        _ => "another machine",
    };
    let other_bits = usize::from(bits) * 4 != size_of::<usize>();
    if other_bits || (order == 1) != little || machine != std::env::consts::ARCH {
        return Some(format!("an ELF file for {machine}"));
    }
    match half(16) {
        3 => None,
        1 => Some("an object file that is not linked yet (.o)".to_owned()),
        2 => Some("a program".to_owned()),
        _ => Some("no shared object".to_owned()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the program of the test itself")]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_is_read_with_its_parameters_and_written_the_same() {
        let plain: Strategy = "./a b.so".parse().unwrap();
        assert_eq!((&*plain.name(), plain.max_games.get()), ("a b", 1));
        let whole: Strategy = "x/y?.so?clock-scale=1000&max-games=8&keeps-globals"
            .parse()
            .unwrap();
        assert_eq!(whole.path, Path::new("x/y?.so"));
        assert_eq!((whole.clock_scale.get(), whole.max_games.get()), (1000, 8));
        assert!(whole.keeps_globals);
        for strategy in [plain, whole] {
            assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
        }
    }

    #[test]
    fn errors_say_what_was_expected() {
        for (spec, says) in [
            ("", "no file is named"),
            ("?max-games=2", "no file is named"),
            ("a.so?games=2", "there are clock-scale, max-games and"),
            ("a.so?max-games=0", "expected a whole number from 1"),
            ("a.so?clock-scale=1e3", "expected a whole number from 1"),
            ("a.so?keeps-globals=yes", "expected no value"),
        ] {
            let error = spec.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.contains(says), "{spec}: {error}");
        }
    }

    #[test]
    fn a_file_is_told_by_its_first_bytes() {
        let ours = std::fs::read("/proc/self/exe").unwrap();
        let with = |at: usize, byte: u8| {
            let mut header = ours[..20].to_vec();
            header[at] = byte;
            not_a_shared_object(&header)
        };
        assert_eq!(with(16, 3), None);
        for (found, says) in [
            (with(16, 1), "not linked yet"),
            (with(16, 2), "a program"),
            (with(18, 40), "for arm"),
            (with(4, 1), "an ELF file for"),
            (with(0, b'#'), "no ELF file"),
            (not_a_shared_object(b"MZ"), "Windows"),
            (not_a_shared_object(b""), "no ELF file"),
        ] {
            let found = found.unwrap();
            assert!(found.contains(says), "{found}");
        }
    }
}

//! Bots that are in an archive: `packed:HASH?needs=python3:exec:python3 my_bot.py`. The rest is
//! a SPEC whose paths begin at the archive's folder, in which the bot runs.

use std::{
    ffi::OsString,
    fmt,
    path::{Component, Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use referee_core::GameInfo;

use crate::{
    Interface, Launcher, Reach, Scheme, Schemes, Trust,
    archive::{ArchiveHash, ArchiveHashError},
    is_label,
};

const PREFIX: &str = "packed:";
/// The SPECs of bots that can be in an archive, for error messages.
pub(crate) const PACKABLE: &str =
    "exec:COMMAND, stdio:COMMAND, gtp:COMMAND, kaggle:FILE.py or strategy:FILE.so";
const NEEDS: &str = "?needs=";
/// The most labels of one bot.
const MOST_NEEDS: usize = 32;

/// The SPEC of a bot in an archive, in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSpec {
    /// The archive.
    pub hash: ArchiveHash,
    /// Labels of what a machine must have to play with it: in order, each once.
    pub needs: Vec<String>,
    /// The SPEC inside, which starts it in the archive's folder, as in `exec:COMMAND` and
    /// `strategy:FILE.so`.
    pub inner: String,
}

/// Reason why a text is no SPEC of a bot in an archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedSpecError {
    /// It has another form.
    #[error("expected packed:HASH:SPEC or packed:HASH?needs=LABEL,LABEL:SPEC")]
    Form,
    /// The text after the prefix is no hash.
    #[error("after packed: {0}")]
    Hash(#[from] ArchiveHashError),
    /// Something that it needs is no label.
    #[error(
        "needs: expected at most 32 labels of 1 to 64 ASCII letters, digits, dots, hyphens, \
         underscores and plus signs, with commas between them"
    )]
    Label,
}

impl PackedSpec {
    /// The SPEC of a bot in an archive that needs this much. The labels are put in order.
    #[must_use]
    pub fn new(hash: ArchiveHash, mut needs: Vec<String>, inner: String) -> Self {
        needs.sort();
        needs.dedup();
        Self { hash, needs, inner }
    }
}

impl fmt::Display for PackedSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.hash)?;
        if !self.needs.is_empty() {
            write!(f, "{NEEDS}{}", self.needs.join(","))?;
        }
        write!(f, ":{}", self.inner)
    }
}

impl FromStr for PackedSpec {
    type Err = PackedSpecError;

    fn from_str(text: &str) -> Result<Self, PackedSpecError> {
        let rest = text.strip_prefix(PREFIX).ok_or(PackedSpecError::Form)?;
        let (head, inner) = rest.split_once(':').ok_or(PackedSpecError::Form)?;
        let (hash, needs) = match head.split_once('?') {
            None => (head, Vec::new()),
            Some((hash, _)) => {
                let labels = &head[hash.len()..];
                let labels = labels.strip_prefix(NEEDS).ok_or(PackedSpecError::Form)?;
                (hash, labels.split(',').map(str::to_owned).collect())
            }
        };
        if needs.len() > MOST_NEEDS || !needs.iter().all(|label| is_label(label)) {
            return Err(PackedSpecError::Label);
        }
        Ok(Self::new(hash.parse()?, needs, inner.to_owned()))
    }
}

/// The kind of bot, whose SPECs have SPECs of these other kinds in them.
pub(crate) fn scheme(others: Arc<Schemes>) -> Scheme {
    Scheme {
        prefixes: &[PREFIX],
        form: "packed:HASH:SPEC",
        names: Vec::new(),
        read: Box::new(move |spec, _| {
            let packed: PackedSpec = spec.parse().map_err(|error| format!("{spec}: {error}"))?;
            let inner = packed.read_inner(&others)?;
            Ok(Arc::new(PackedLauncher { packed, inner }))
        }),
    }
}

impl PackedSpec {
    /// The launcher that starts the bot in its folder.
    fn read_inner(&self, schemes: &Schemes) -> Result<Arc<dyn Launcher>, String> {
        let refused = |why: &str| format!("{self}: {why}");
        let Some((scheme, rest)) = schemes.find(&self.inner) else {
            return Err(refused(&format!("expected {PACKABLE} after the archive")));
        };
        let inner = (scheme.read)(&self.inner, rest)?;
        inner.check_packed().map_err(|why| refused(&why))?;
        Ok(inner)
    }
}

#[derive(Debug)]
struct PackedLauncher {
    packed: PackedSpec,
    inner: Arc<dyn Launcher>,
}

impl Launcher for PackedLauncher {
    fn default_name(&self) -> String {
        self.inner.default_name()
    }

    fn trust(&self) -> Trust {
        Trust::Process
    }

    fn reach(&self) -> Reach {
        self.inner.reach()
    }

    fn travels_with(&self) -> Option<Vec<String>> {
        Some(self.packed.needs.clone())
    }

    fn archive(&self) -> Option<&ArchiveHash> {
        Some(&self.packed.hash)
    }

    fn needs(&self, _directory: &Path) -> Vec<String> {
        self.packed.needs.clone()
    }

    fn identity(&self, _directory: &Path) -> Result<Option<String>, String> {
        Ok(Some(format!("sha256:{}", self.packed.hash)))
    }

    fn check_game(&self, game: &GameInfo) -> Result<(), String> {
        self.inner.check_game(game)
    }

    fn needs_empty_board(&self) -> bool {
        self.inner.needs_empty_board()
    }

    fn usual_setup(&self) -> Option<&'static str> {
        self.inner.usual_setup()
    }

    fn interface(&self) -> Interface {
        self.inner.interface()
    }

    fn command(&self) -> Option<(PathBuf, Vec<OsString>)> {
        self.inner.command()
    }

    fn may_keep_globals(&self) -> bool {
        self.inner.may_keep_globals()
    }
}

/// Checks that a path means the same file wherever the bot's folder is.
///
/// # Errors
///
/// Why it does not.
pub fn stays_in_folder(path: &Path) -> Result<(), String> {
    if path.is_absolute() {
        return Err(format!(
            "{}: expected a path from the bot's folder on, found an absolute one, which is \
             another file on another machine",
            path.display()
        ));
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(format!(
            "{}: expected a path in the bot's folder, found \"..\"",
            path.display()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entry;

    fn hash() -> ArchiveHash {
        ArchiveHash::new([7; 32])
    }

    #[test]
    fn a_spec_is_written_as_it_is_read() {
        let hash = hash();
        for (text, needs, inner) in [
            (format!("packed:{hash}:exec:./bot"), vec![], "exec:./bot"),
            (
                format!("packed:{hash}?needs=linux-x86_64,python3:exec:python3 a.py --x=b:c?d"),
                vec!["linux-x86_64", "python3"],
                "exec:python3 a.py --x=b:c?d",
            ),
            (
                format!("packed:{hash}:strategy:my.so?clock-scale=1000"),
                vec![],
                "strategy:my.so?clock-scale=1000",
            ),
        ] {
            let spec: PackedSpec = text.parse().unwrap();
            assert_eq!((spec.hash, &*spec.inner), (hash, inner));
            assert_eq!(spec.needs, needs);
            assert_eq!(spec.to_string(), text);
        }
        // What it needs is in order, each once.
        let needs = ["b", "a", "b"].map(str::to_owned).to_vec();
        let spec = PackedSpec::new(hash, needs, "exec:./bot".to_owned());
        let text = format!("packed:{hash}?needs=a,b:exec:./bot");
        assert_eq!(spec.to_string(), text);
    }

    #[test]
    fn an_entry_knows_its_archive_and_what_it_needs() {
        let schemes = Schemes::with(Vec::new());
        let hash = hash();
        let text = format!("me=packed:{hash}?needs=python3:exec:python3 a.py");
        let entry = Entry::read(&text, &schemes).unwrap();
        let launcher = entry.launcher();
        assert_eq!(launcher.archive(), Some(&hash));
        assert_eq!(launcher.needs(Path::new(".")), ["python3"]);
        let identity = launcher.identity(Path::new(".")).unwrap();
        assert_eq!(identity, Some(format!("sha256:{hash}")));
        assert!(entry.is_foreign_process());
        let unnamed = format!("packed:{hash}?needs=x:exec:./my_bot");
        assert_eq!(Entry::read(&unnamed, &schemes).unwrap().name, "my_bot");
    }

    #[test]
    fn what_is_wrong_with_a_spec_is_said() {
        let schemes = Schemes::with(Vec::new());
        let hash = hash();
        for (text, says) in [
            ("packed:abc:exec:./a".to_owned(), "64 hexadecimal digits"),
            (format!("packed:{hash}"), "expected packed:HASH:SPEC"),
            (
                format!("packed:{hash}?x=1:exec:./a"),
                "expected packed:HASH:SPEC",
            ),
            (format!("packed:{hash}?needs=:exec:./a"), "ASCII letters"),
            (format!("packed:{hash}?needs=a b:exec:./a"), "ASCII letters"),
            (format!("packed:{hash}:./a"), "expected exec:COMMAND"),
            (format!("packed:{hash}:exec:"), "expected a command"),
            (
                format!("packed:{hash}:exec:/opt/a"),
                "found an absolute one",
            ),
            (format!("packed:{hash}:exec:../a"), "found \"..\""),
            (
                format!("packed:{hash}:grpc://h:1"),
                "can't be in an archive",
            ),
            (
                format!("packed:{hash}:packed:{hash}:exec:./a"),
                "expected exec:COMMAND",
            ),
        ] {
            let why = Entry::read(&format!("a={text}"), &schemes).unwrap_err();
            assert!(why.to_string().contains(says), "{text}: {why}");
        }
    }
}

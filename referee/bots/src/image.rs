//! Bots that are images of containers: `image:NAME`, with arguments after it. Which image a name
//! means is looked up once, when the SPEC is read.

use std::{path::Path, sync::Arc};

use referee::BotContainer;
use referee_container::{Containers, EngineError, ImageName};
use sha2::{Digest as _, Sha256};

use crate::{Launcher, Reach, Scheme, Trust};

const PREFIX: &str = "image:";
/// The beginning of labels of images, and the number of digits of the digest that follow.
const LABEL: &str = "image-";
const LABEL_DIGITS: usize = 32;

/// The treatment of an image's name that does not say which image it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpinned {
    /// The engine is asked which one it is. Where that fails it stays as it is, and can be played
    /// only by others who have it.
    LookUp,
    /// It stays as it is: whoever starts it decides.
    Keep,
    /// It is refused.
    Refuse,
}

/// The kind of bot.
#[must_use]
pub fn image_scheme(containers: Arc<Containers>, unpinned: Unpinned) -> Scheme {
    Scheme {
        prefixes: &[PREFIX],
        form: "image:NAME",
        names: Vec::new(),
        read: Box::new(move |spec, rest| {
            let mut bot = ImageBot::read(rest, containers.clone())
                .map_err(|error| format!("{spec}: {error}"))?;
            if bot.image.digest.is_none() {
                match unpinned {
                    Unpinned::Keep => {}
                    Unpinned::Refuse => {
                        return Err(format!("{spec}: expected image:NAME@sha256:DIGEST"));
                    }
                    Unpinned::LookUp => match pin(&containers, &bot.image) {
                        Ok(image) => bot.image = image,
                        Err(error) => bot.not_found = Some(error.to_string()),
                    },
                }
            }
            Ok(Arc::new(bot))
        }),
    }
}

/// The label that says which image a machine has: by its digest, or by its name where no digest
/// is said.
#[must_use]
pub fn image_label(name: &str, digest: Option<&str>) -> String {
    let named = || hex::encode(Sha256::digest(name));
    let digits = match digest {
        Some(digest) => digest.strip_prefix("sha256:").unwrap_or(digest).to_owned(),
        None => named(),
    };
    let digits: String = digits.chars().take(LABEL_DIGITS).collect();
    format!("{LABEL}{digits}")
}

/// Asks the engine, on a thread with a runtime of its own: whoever reads SPECs may be on one.
fn pin(containers: &Containers, name: &ImageName) -> Result<ImageName, EngineError> {
    let asked = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| EngineError::Failed(error.to_string()))?;
        runtime.block_on(containers.pin(name))
    };
    std::thread::scope(|scope| {
        let asking = scope.spawn(asked);
        asking
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A bot that is an image.
#[derive(Debug)]
struct ImageBot {
    image: ImageName,
    arguments: Vec<String>,
    containers: Arc<Containers>,
    /// Reason why it could not be found out which image it is.
    not_found: Option<String>,
}

impl ImageBot {
    fn read(text: &str, containers: Arc<Containers>) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("a quotation mark is not closed")?;
        let mut words = words.into_iter();
        let name = words.next().unwrap_or_default();
        Ok(Self {
            image: name
                .parse::<ImageName>()
                .map_err(|error| error.to_string())?,
            arguments: words.collect(),
            containers,
            not_found: None,
        })
    }
}

impl Launcher for ImageBot {
    fn default_name(&self) -> String {
        self.image.short().to_owned()
    }

    fn trust(&self) -> Trust {
        Trust::Container
    }

    fn reach(&self) -> Reach {
        Reach::Container {
            container: BotContainer {
                containers: self.containers.clone(),
                image: self.image.clone(),
                pondering: false,
            },
            arguments: self.arguments.iter().map(Into::into).collect(),
        }
    }

    fn lasting_spec(&self) -> Option<String> {
        let words = [self.image.to_string()];
        let words = words.iter().chain(&self.arguments).map(String::as_str);
        // Only a NUL can't be quoted, and no SPEC has one.
        let command = shlex::try_join(words).ok()?;
        Some(format!("{PREFIX}{command}"))
    }

    fn travels_with(&self) -> Option<Vec<String>> {
        let ImageName { name, digest } = &self.image;
        Some(vec![image_label(name, digest.as_deref())])
    }

    fn check_files(&self, _directory: &Path) -> Result<(), String> {
        match &self.not_found {
            Some(why) => Err(format!("{PREFIX}{}: {why}", self.image)),
            None => Ok(()),
        }
    }

    fn identity(&self, _directory: &Path) -> Result<Option<String>, String> {
        Ok(self.image.digest.clone())
    }
}

#[cfg(test)]
mod tests {
    use referee_sandbox::Reexec;

    use super::*;
    use crate::{Entry, Schemes, is_label};

    fn schemes(unpinned: Unpinned) -> Schemes {
        let containers = Containers::new(Reexec::this_program(["x"])).unwrap();
        Schemes::with(vec![image_scheme(Arc::new(containers), unpinned)])
    }

    #[test]
    fn a_spec_says_which_image_and_with_what() {
        let digest = format!("sha256:{}", "7b".repeat(32));
        let text = format!("image:team/my-bot:2@{digest} uct 'a b'");
        let entry = Entry::read(&text, &schemes(Unpinned::Refuse)).unwrap();
        assert_eq!((&*entry.name, &entry.spec), ("my-bot", &text));
        let launcher = entry.launcher();
        let label = image_label("x", Some(&digest));
        assert!(is_label(&label), "{label}");
        assert_eq!(launcher.travels_with(), Some(vec![label]));
        assert_eq!(launcher.identity(Path::new(".")), Ok(Some(digest)));
        let Reach::Container { arguments, .. } = launcher.reach() else {
            panic!("it is an image");
        };
        assert_eq!(arguments, ["uct", "a b"]);
        assert!(entry.is_started_by_us() && !entry.is_foreign_process());
    }

    #[test]
    fn an_image_of_no_said_digest_has_a_label_by_its_name() {
        let schemes = schemes(Unpinned::Keep);
        let label = |spec: &str| {
            let entry = Entry::read(spec, &schemes).unwrap();
            assert_eq!(entry.launcher().identity(Path::new(".")), Ok(None));
            entry.launcher().travels_with().unwrap().remove(0)
        };
        let first = label("a=image:team/bot:1 uct");
        assert!(is_label(&first), "{first}");
        assert_eq!(first, label("b=image:team/bot:1"));
        assert_ne!(first, label("b=image:team/bot:2"));
    }

    #[test]
    fn what_is_wrong_with_a_spec_is_said() {
        for (text, says) in [
            ("a=image:", "expected the name of an image"),
            ("a=image:A B@sha256:1", "expected image:NAME@sha256:DIGEST"),
            ("a=image:x@sha256:1", "expected the name of an image"),
            ("a=image:'x", "not closed"),
            ("a=image:x", "expected image:NAME@sha256:DIGEST"),
        ] {
            let why = Entry::read(text, &schemes(Unpinned::Refuse))
                .unwrap_err()
                .to_string();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}

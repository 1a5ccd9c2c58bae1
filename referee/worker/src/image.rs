//! Bots that are images of containers: `image:NAME`, with arguments after it. Which image a name
//! means is looked up once, when the SPEC is read.

use std::{path::Path, sync::Arc};

use referee::BotContainer;
use referee_container::{Containers, EngineError, ImageName};

use crate::{Launcher, Reach, Scheme, Trust};

const PREFIX: &str = "image:";
/// What labels of images begin with, and how many digits of the digest follow.
const LABEL: &str = "image-";
const LABEL_DIGITS: usize = 32;

/// The kind of bot. Where `pins`, the name of an image that is not said to be a certain one is
/// looked up at the engine; else it must be said.
#[must_use]
pub fn image_scheme(containers: Arc<Containers>, pins: bool) -> Scheme {
    Scheme {
        prefixes: &[PREFIX],
        form: "image:NAME",
        names: Vec::new(),
        read: Box::new(move |spec, rest| {
            let mut bot = ImageBot::read(rest, containers.clone())
                .map_err(|error| format!("{spec}: {error}"))?;
            if bot.image.digest.is_none() {
                if !pins {
                    return Err(format!("{spec}: expected image:NAME@sha256:DIGEST"));
                }
                bot.image =
                    pin(&containers, &bot.image).map_err(|error| format!("{spec}: {error}"))?;
            }
            Ok(Arc::new(bot))
        }),
    }
}

/// What a machine that has this image provides, as a label.
#[must_use]
pub fn image_label(digest: &str) -> String {
    let digits = digest.strip_prefix("sha256:").unwrap_or(digest);
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
        Some(vec![image_label(self.image.digest.as_deref()?)])
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

    fn schemes(pins: bool) -> Schemes {
        let containers = Containers::new(Reexec::this_program(["x"])).unwrap();
        Schemes::with(vec![image_scheme(Arc::new(containers), pins)])
    }

    #[test]
    fn a_spec_says_which_image_and_with_what() {
        let digest = format!("sha256:{}", "7b".repeat(32));
        let text = format!("image:team/my-bot:2@{digest} uct 'a b'");
        let entry = Entry::read(&text, &schemes(false)).unwrap();
        assert_eq!((&*entry.name, &entry.spec), ("my-bot", &text));
        let launcher = entry.launcher();
        let label = image_label(&digest);
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
    fn what_is_wrong_with_a_spec_is_said() {
        for (text, says) in [
            ("a=image:", "expected the name of an image"),
            ("a=image:A B@sha256:1", "expected image:NAME@sha256:DIGEST"),
            ("a=image:x@sha256:1", "expected the name of an image"),
            ("a=image:'x", "not closed"),
            ("a=image:x", "expected image:NAME@sha256:DIGEST"),
        ] {
            let why = Entry::read(text, &schemes(false)).unwrap_err().to_string();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}

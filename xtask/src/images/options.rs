//! The words after `cargo xtask images`.

use super::{IMAGES, Image};
use crate::shell::Result;

/// The task that is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Write contexts and build images of them.
    Build,
    /// Write contexts alone.
    Contexts,
    /// Make a base image of Debian's packages.
    Base,
}

/// The options that were given.
pub(super) struct Options {
    pub(super) verb: Verb,
    pub(super) images: Vec<&'static Image>,
    /// The image below those that stand on another one.
    pub(super) base: Option<String>,
    pub(super) engine_host: Option<String>,
    /// Cargo's profile of the Rust programs.
    pub(super) profile: String,
    /// Take what an earlier run has written below target/images.
    pub(super) prepared: bool,
}

impl Options {
    /// Reads them.
    ///
    /// # Errors
    /// An option or an image does not exist, or a value is missing.
    pub(super) fn read(words: &[&str]) -> Result<Self> {
        let (verb, words) = match words {
            ["base", rest @ ..] => (Verb::Base, rest),
            ["contexts", rest @ ..] => (Verb::Contexts, rest),
            _ => (Verb::Build, words),
        };
        let mut options = Self {
            verb,
            images: Vec::new(),
            base: None,
            engine_host: None,
            profile: "dist".to_owned(),
            prepared: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || match words.next() {
                Some(value) if !value.starts_with('-') => Ok((*value).to_owned()),
                _ => Err(format!("expected a value after {word}")),
            };
            match *word {
                "--base" => options.base = Some(value()?),
                "--engine-host" => options.engine_host = Some(value()?),
                "--profile" => options.profile = value()?,
                "--prepared" => options.prepared = true,
                name => options.images.push(find(name)?),
            }
        }
        if verb == Verb::Base && !options.images.is_empty() {
            return Err("`images base` makes one image, `bot-arena/base`: expected no name".into());
        }
        if options.images.is_empty() {
            options.images.extend(IMAGES);
        }
        Ok(options)
    }
}

fn find(name: &str) -> Result<&'static Image> {
    let found = IMAGES.iter().find(|image| image.name == name);
    found.ok_or_else(|| {
        let known: Vec<_> = IMAGES.iter().map(|image| image.name).collect();
        let known = known.join(", ");
        format!(
            "there is no image or option `{name}`; expected --base IMAGE, --engine-host \
             unix://PATH, --profile NAME, --prepared, or one of the images {known}"
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> String {
        match Options::read(words) {
            Ok(_) => panic!("{words:?} was understood"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn no_name_means_all_images() {
        let options = Options::read(&["--base", "mine", "--profile", "dev"]).unwrap();
        assert_eq!(options.images.len(), IMAGES.len());
        assert_eq!(options.base.as_deref(), Some("mine"));
        assert_eq!(options.profile, "dev");
        assert_eq!(Options::read(&["bot"]).unwrap().images.len(), 1);
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        assert!(refused(&["bots"]).contains("sample-node"));
        assert!(refused(&["--bases", "mine"]).contains("--base IMAGE"));
        assert!(refused(&["--base"]).contains("expected a value after --base"));
        assert!(refused(&["--base", "--prepared"]).contains("expected a value"));
        assert!(refused(&["base", "bot"]).contains("expected no name"));
    }
}

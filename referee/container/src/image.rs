//! The name of an image, and the image that it stands for.

use std::{fmt, str::FromStr};

/// The name of an image, and which one it must be, where that is said: `NAME`, `NAME:TAG` or
/// `NAME@sha256:DIGEST`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageName {
    /// Without the digest.
    pub name: String,
    /// `sha256:` and 64 digits: of the image, or of what a registry calls so.
    pub digest: Option<String>,
}

/// A text is no name of an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the name of an image, as in my-bot, registry.example.com/team/my-bot:2 or \
     my-bot@sha256:DIGEST, found \"{0}\""
)]
pub struct BadImageName(String);

/// An image that the engine has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    /// Its number: `sha256:` and 64 digits. The engine knows the image by it.
    pub id: String,
    /// Digests of it in registries, each without the name. The same image has the same digest on
    /// every machine that took it from there.
    pub digests: Vec<String>,
    /// Names of the variables that it sets.
    pub variables: Vec<String>,
}

impl ImageName {
    /// The references that the engine is asked for it with: by its digest alone where that is
    /// the number of an image.
    pub(crate) fn references(&self) -> Vec<String> {
        match &self.digest {
            None => vec![self.name.clone()],
            Some(digest) => vec![digest.clone(), format!("{}@{digest}", self.untagged())],
        }
    }

    /// The name without its tag.
    fn untagged(&self) -> &str {
        let last = self.name.rfind('/').map_or(0, |slash| slash + 1);
        match self.name[last..].find(':') {
            Some(colon) => &self.name[..last + colon],
            None => &self.name,
        }
    }

    /// The last part of the name, without registry and tag.
    #[must_use]
    pub fn short(&self) -> &str {
        let untagged = self.untagged();
        untagged.rsplit('/').next().unwrap_or(untagged)
    }

    /// The same name of exactly this image.
    #[must_use]
    pub fn pinned(&self, image: &ContainerImage) -> Self {
        let digest = image.digests.first().unwrap_or(&image.id);
        Self {
            name: self.name.clone(),
            digest: Some(digest.clone()),
        }
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ImageName {
    type Err = BadImageName;

    fn from_str(text: &str) -> Result<Self, BadImageName> {
        let bad = || BadImageName(text.to_owned());
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(digest)),
            None => (text, None),
        };
        let is_of_a_name = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_name = begins && name.len() <= 255 && name.chars().all(is_of_a_name);
        if !is_name || !digest.is_none_or(is_digest) {
            return Err(bad());
        }
        Ok(Self {
            name: name.to_owned(),
            digest: digest.map(str::to_owned),
        })
    }
}

/// True if a text is `sha256:` and 64 digits.
pub(crate) fn is_digest(text: &str) -> bool {
    let hex = text.strip_prefix("sha256:").unwrap_or_default();
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    hex.len() == 64 && hex.chars().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_as_it_is_read() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        for (text, untagged, short) in [
            ("my-bot", "my-bot", "my-bot"),
            ("team/my-bot:2", "team/my-bot", "my-bot"),
            ("localhost:5000/team/bot", "localhost:5000/team/bot", "bot"),
        ] {
            let name: ImageName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
            assert_eq!((name.untagged(), name.short()), (untagged, short));
            assert_eq!(name.references(), [text]);
            let pinned: ImageName = format!("{text}@{digest}").parse().unwrap();
            assert_eq!(pinned.name, text);
            let references = pinned.references();
            assert_eq!(references, [digest.clone(), format!("{untagged}@{digest}")]);
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in [
            "",
            "-x",
            "a b",
            "a@sha256:12",
            "a@md5:x",
            "../x",
            "a?x",
            &"x".repeat(256),
        ] {
            let why = text.parse::<ImageName>().unwrap_err().to_string();
            assert!(why.contains(&format!("found \"{text}\"")), "{why}");
        }
    }

    #[test]
    fn an_image_is_pinned_by_what_a_registry_calls_it_if_one_does() {
        let [id, digest] = ["1", "2"].map(|digit| format!("sha256:{}", digit.repeat(64)));
        let name: ImageName = "my-bot:2".parse().unwrap();
        let mut image = ContainerImage {
            id: id.clone(),
            digests: Vec::new(),
            variables: Vec::new(),
        };
        assert_eq!(name.pinned(&image).to_string(), format!("my-bot:2@{id}"));
        image.digests.push(digest.clone());
        assert_eq!(
            name.pinned(&image).to_string(),
            format!("my-bot:2@{digest}")
        );
    }
}

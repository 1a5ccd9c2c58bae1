//! Texts for people, in each language that they are spoken to in.

/// A language that people are spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// All languages.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// Its code, as in `lang` of HTML.
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.pick("en", "zh")
    }

    /// The language with this code.
    #[must_use]
    pub fn of_code(code: &str) -> Option<Self> {
        (Self::ALL.into_iter()).find(|language| language.code() == code)
    }

    /// The text in this language.
    #[must_use]
    pub const fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Self::En => english,
            Self::Zh => chinese,
        }
    }
}

/// A text in each language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words<T = String> {
    /// In English.
    pub english: T,
    /// In Chinese.
    pub chinese: T,
}

impl Words<&'static str> {
    /// A text that is known when the program is built.
    #[must_use]
    pub const fn of(english: &'static str, chinese: &'static str) -> Self {
        Self { english, chinese }
    }
}

impl Words {
    /// A text from its two forms.
    #[must_use]
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self {
            english: english.into(),
            chinese: chinese.into(),
        }
    }

    /// The words that `text` gives for each language.
    #[must_use]
    pub fn each(text: impl Fn(Language) -> String) -> Self {
        Self::new(text(Language::En), text(Language::Zh))
    }
}

impl<T: AsRef<str>> Words<T> {
    /// The text in this language.
    #[must_use]
    pub fn get(&self, language: Language) -> &str {
        language.pick(self.english.as_ref(), self.chinese.as_ref())
    }
}

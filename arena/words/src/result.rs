//! How a game ended.

use referee_core::{FoulWords, Language, Record, Verdict, Words};

/// Who came first in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner<'a> {
    /// Nobody did.
    Nobody,
    /// This player did.
    One(&'a str),
    /// Several players share the first place.
    Several,
}

impl<'a> Winner<'a> {
    /// The winner of this game.
    #[must_use]
    pub fn of(record: &'a Record) -> Self {
        let places = record
            .result
            .verdict
            .outcome()
            .map(|outcome| &outcome.places);
        let first = places.into_iter().flat_map(|places| places.iter());
        let mut first = first.filter(|(_, place)| **place == 1);
        match (first.next(), first.next()) {
            (None, _) => Self::Nobody,
            (Some((seat, _)), None) => Self::One(&record.header.players[seat]),
            (Some(_), Some(_)) => Self::Several,
        }
    }

    fn in_words(self, language: Language) -> String {
        match (self, language) {
            (Self::Nobody, _) => language.pick("nobody won", "无人获胜").to_owned(),
            (Self::One(winner), Language::En) => format!("{winner} won"),
            (Self::One(winner), Language::Zh) => format!("{winner} 获胜"),
            (Self::Several, _) => language.pick("a draw", "平局").to_owned(),
        }
    }
}

/// Who won a game, or that it does not count.
#[must_use]
pub fn winner(record: &Record, language: Language) -> String {
    match record.result.verdict {
        Verdict::Void { .. } => language.pick("void", "无效").to_owned(),
        Verdict::Finished { .. } => Winner::of(record).in_words(language),
    }
}

/// Why a game was over (`ending`, in the words of its rules), and the kinds of fouls.
#[must_use]
pub fn reason(record: &Record, ending: &Words, language: Language) -> String {
    match &record.result.verdict {
        Verdict::Void { reason } => language.pick(reason, "裁判出错").to_owned(),
        Verdict::Finished { fouls, .. } => {
            let mut text = ending.get(language).to_owned();
            for foul in fouls {
                let name = &record.header.players[foul.seat];
                let what = foul.foul.kind().words_in(language);
                text += &format!("; {name}: {what}");
            }
            text
        }
    }
}

/// How a game ended: who won, and why.
#[must_use]
pub fn result(record: &Record, ending: &Words, language: Language) -> String {
    let colon = language.pick(": ", "：");
    let winner = winner(record, language);
    format!("{winner}{colon}{}", reason(record, ending, language))
}

/// The same in English, with the evidence of each foul in one sentence.
#[must_use]
pub fn result_with_evidence(record: &Record) -> String {
    match &record.result.verdict {
        Verdict::Void { reason } => format!("void: {reason}"),
        Verdict::Finished { outcome, fouls } => {
            let won = Winner::of(record).in_words(Language::En);
            let mut text = format!("{won}: {}", outcome.reason);
            for foul in fouls {
                let words = FoulWords::of(&foul.foul).sentence;
                text += &format!("; {}: {words}", record.header.players[foul.seat]);
            }
            text
        }
    }
}

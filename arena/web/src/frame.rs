//! A frame: what of a page can change, and what differs between two of them.

use std::{collections::BTreeMap, sync::Arc};

use arena_draw::Picture;
use serde::Serialize;

/// The parts of a page that can change, as they are at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) blocks: Vec<Block>,
    /// The text that a screen reader says of it.
    pub(crate) said: String,
    /// True if nothing comes after it.
    pub(crate) is_last: bool,
}

/// An element of a page by its id, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) id: String,
    pub(crate) html: Arc<str>,
    /// Elements in it that can be replaced one by one, by their ids.
    pub(crate) parts: Vec<(String, Arc<str>)>,
}

impl Block {
    pub(crate) fn new(id: impl Into<String>, html: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            html: html.into().into(),
            parts: Vec::new(),
        }
    }

    /// A picture, whose parts are replaced one by one.
    pub(crate) fn of_picture(
        id: impl Into<String>,
        picture: &Picture,
        prefix: &str,
        title: &str,
    ) -> Self {
        let parts = picture.parts.iter();
        Self {
            id: id.into(),
            html: picture.svg(title).into(),
            parts: parts
                .map(|part| (format!("{prefix}{}", part.key), part.svg.as_str().into()))
                .collect(),
        }
    }
}

/// The differences between two frames.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Changes<'a> {
    /// The new content of elements, by their ids.
    inner: BTreeMap<&'a str, &'a str>,
    /// The new elements themselves, by their ids.
    outer: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<&'a str>,
    last: bool,
}

impl Frame {
    /// The frame after which nothing comes, with nothing in it.
    pub(crate) fn last() -> Self {
        Self {
            is_last: true,
            ..Self::default()
        }
    }

    /// The changes since the frame before; all of it where there was none. None where nothing
    /// differs.
    pub(crate) fn since<'a>(&'a self, before: Option<&Frame>) -> Option<Changes<'a>> {
        let mut changes = Changes {
            last: self.is_last,
            ..Changes::default()
        };
        for block in &self.blocks {
            let old = before.and_then(|before| before.blocks.iter().find(|old| old.id == block.id));
            match old {
                Some(old) if old == block => {}
                Some(old) if has_same_parts(old, block) => {
                    let pairs = old.parts.iter().zip(&block.parts);
                    let changed = pairs.filter(|(old, new)| old.1 != new.1);
                    changes
                        .outer
                        .extend(changed.map(|(_, (id, html))| (&**id, &**html)));
                }
                _ => drop(changes.inner.insert(&block.id, &block.html)),
            }
        }
        if before.is_none_or(|before| before.said != self.said) && !self.said.is_empty() {
            changes.said = Some(&self.said);
        }
        let is_news = !changes.inner.is_empty()
            || !changes.outer.is_empty()
            || changes.said.is_some()
            || before.is_none_or(|before| before.is_last != self.is_last);
        is_news.then_some(changes)
    }
}

fn has_same_parts(old: &Block, new: &Block) -> bool {
    // The element around the parts has a size and a role.
    let around = |block: &Block| block.html.split('>').next().map(str::to_owned);
    !new.parts.is_empty()
        && around(old) == around(new)
        && old.parts.len() == new.parts.len()
        && (old.parts.iter().zip(&new.parts)).all(|(old, new)| old.0 == new.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(cells: &[&str]) -> Frame {
        let parts = cells.iter().enumerate();
        Frame {
            blocks: vec![
                Block {
                    id: "board".to_owned(),
                    html: format!("<svg>{}</svg>", cells.concat()).into(),
                    parts: parts
                        .map(|(at, html)| (format!("c{at}"), (*html).into()))
                        .collect(),
                },
                Block::new("moves", cells.join(",")),
            ],
            ..Frame::default()
        }
    }

    #[test]
    fn only_what_differs_is_sent() {
        let (before, after) = (frame(&["a", "b", "c"]), frame(&["a", "X", "c"]));
        let changes = after.since(Some(&before)).expect("something differs");
        assert_eq!(changes.outer, BTreeMap::from([("c1", "X")]));
        assert_eq!(changes.inner, BTreeMap::from([("moves", "a,X,c")]));
        assert_eq!(after.since(Some(&after)), None);
    }

    #[test]
    fn whoever_comes_gets_all_and_another_set_of_parts_too() {
        let all = frame(&["a", "b"]);
        let changes = all.since(None).expect("everything is new");
        assert_eq!(changes.inner.len(), 2);
        let fewer = frame(&["a"]);
        let changes = fewer.since(Some(&all)).expect("a part is gone");
        assert_eq!(changes.inner.get("board"), Some(&"<svg>a</svg>"));
        assert!(changes.outer.is_empty());
    }

    #[test]
    fn a_picture_of_another_size_or_role_is_sent_whole() {
        let (before, mut after) = (frame(&["a", "b"]), frame(&["a", "X"]));
        after.blocks[0].html = "<svg role=\"group\">aX</svg>".into();
        let changes = after.since(Some(&before)).expect("something differs");
        assert!(changes.outer.is_empty());
        assert!(changes.inner.contains_key("board"));
    }
}

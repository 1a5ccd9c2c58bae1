//! The rules of a game as a part of a page.

use std::mem;

use maud::PreEscaped;
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A page of Markdown without its title, and without the link to the same page in the other language
/// that stands below it. Links within the documents lead nowhere here, so their text is left.
pub(super) fn show(page: &str) -> PreEscaped<String> {
    let mut events = Parser::new_ext(page, Options::ENABLE_TABLES).peekable();
    let mut shown = Vec::new();
    let mut is_first = true;
    while let Some(event) = events.next() {
        match event {
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            }) => skip(&mut events, |tag| matches!(tag, TagEnd::Heading(_))),
            Event::Start(Tag::Paragraph)
                if mem::take(&mut is_first)
                    && matches!(events.peek(), Some(Event::Start(Tag::Link { .. }))) =>
            {
                skip(&mut events, |tag| matches!(tag, TagEnd::Paragraph));
            }
            Event::Start(Tag::Link { .. }) | Event::End(TagEnd::Link) => {}
            // An alignment would be a style of its own, which the page does not allow.
            Event::Start(Tag::Table(columns)) => {
                shown.push(Event::Html("<div class=\"scrolls\">".into()));
                let columns = vec![Alignment::None; columns.len()];
                shown.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                shown.push(Event::End(TagEnd::Table));
                shown.push(Event::Html("</div>".into()));
            }
            Event::Html(text) | Event::InlineHtml(text) => shown.push(Event::Text(text)),
            other => shown.push(other),
        }
    }
    let mut markup = String::new();
    html::push_html(&mut markup, shown.into_iter());
    PreEscaped(markup)
}

/// Skips what comes, up to an end.
fn skip<'a>(events: &mut impl Iterator<Item = Event<'a>>, is_end: impl Fn(TagEnd) -> bool) {
    events.find(|event| matches!(event, Event::End(tag) if is_end(*tag)));
}

#[cfg(test)]
mod tests {
    use referee_core::Language;
    use referee_games::GAMES;

    use super::*;

    #[test]
    fn what_is_marked_is_shown_and_links_within_the_documents_are_text() {
        let page = "# A game (`game`)\n\n[中文](../zh/game.md) · more\n\nTwo `seats` ([more](a.md)), 2 < 3.\n\n\
                    ## Play\n- one\n  and the same\n- <b>two</b>\n\n| hand | faan |\n| ---: | --- |\n| all | 2 |\n";
        let shown = show(page).into_string().replace('\n', "");
        assert_eq!(
            shown,
            "<p>Two <code>seats</code> (more), 2 &lt; 3.</p><h2>Play</h2><ul><li>oneand the same</li>\
             <li>&lt;b&gt;two&lt;/b&gt;</li></ul><div class=\"scrolls\"><table><thead><tr><th>hand</th>\
             <th>faan</th></tr></thead><tbody><tr><td>all</td><td>2</td></tr></tbody></table></div>"
        );
    }

    #[test]
    fn the_rules_of_every_game_have_no_mark_left() {
        for kind in GAMES.iter() {
            for language in Language::ALL {
                let shown = show(kind.info().rules.get(language)).into_string();
                for mark in [
                    "](", "| ---", "`", "**", "href", "style", "<h1", "English", "中文",
                ] {
                    assert!(!shown.contains(mark), "{mark}: {shown}");
                }
                assert!(shown.contains("<h2>"), "{shown}");
            }
        }
    }
}

//! The settings on the full screen: a form.

use std::collections::BTreeMap;

use ratatui::{
    Frame,
    layout::{Constraint, Layout, Position, Rect},
    style::{Color, Modifier, Style},
    text::{Line, Span},
    widgets::Paragraph,
};
use referee_core::{GameInfo, Language};

use super::{
    super::{
        settings::{SETUP, Setting, Settings, Settled},
        words::{self, Command},
    },
    Screen,
    keys::{Key, WAITING},
    line::TypedLine,
    page::{TextPage, wrapped},
    too_small,
};

/// The narrowest and lowest terminal for a form; its errors may need more lines.
const SMALLEST: (u16, u16) = (60, 17);
/// Column in which values begin.
const VALUES: u16 = 18;

/// Shows the settings until somebody begins or leaves.
pub(in super::super) async fn settle(
    screen: &mut Screen,
    language: Language,
    settings: &mut Settings,
) -> anyhow::Result<Settled> {
    let mut form = SettingsForm::new(language, settings)?;
    loop {
        screen.draw(|frame| form.render(frame));
        if let Some(settled) = form.press(screen.key().await?)? {
            return Ok(settled);
        }
    }
}

struct FormField {
    setting: Setting,
    line: TypedLine,
    /// True if nothing was typed since the value was set: then a letter replaces it.
    is_set: bool,
    error: String,
}

impl FormField {
    fn new(setting: Setting) -> Self {
        Self {
            line: TypedLine::new(&setting.value),
            setting,
            is_set: true,
            error: String::new(),
        }
    }

    /// True if its values can have any letter, so that none is a command.
    fn takes_any_letter(&self) -> bool {
        ["against", SETUP, "seed"].contains(&&*self.setting.name)
    }
}

/// A target of a click.
#[derive(Clone)]
enum ClickPlace {
    Field(usize),
    Choice(String),
    Begin,
    Command(Command),
}

struct SettingsForm<'a> {
    language: Language,
    settings: &'a mut Settings,
    fields: Vec<FormField>,
    /// The field that is typed in.
    at: usize,
    page: Option<TextPage>,
    /// Places of the things that were drawn last.
    places: Vec<(Rect, ClickPlace)>,
}

impl<'a> SettingsForm<'a> {
    fn new(language: Language, settings: &'a mut Settings) -> anyhow::Result<Self> {
        Ok(Self {
            language,
            fields: settings.all()?.into_iter().map(FormField::new).collect(),
            settings,
            at: 0,
            page: None,
            places: Vec::new(),
        })
    }

    fn info(&self) -> &'static GameInfo {
        self.settings.kind().info()
    }

    fn press(&mut self, key: Key) -> anyhow::Result<Option<Settled>> {
        if matches!(key, Key::Interrupt | Key::Gone) {
            return Ok(Some(Settled::Left));
        }
        if let Some(page) = &mut self.page {
            if !page.press(key) {
                self.page = None;
            }
            return Ok(None);
        }
        let is_typed = self.fields[self.at].takes_any_letter();
        let mut commands = WAITING.iter();
        if let Some(binding) = commands.find(|one| one.is_run_by(key, |_| is_typed)) {
            return Ok(self.run(binding.command));
        }
        match key {
            Key::Escape => return Ok(self.run(Command::Quit)),
            Key::Enter => return self.begin(),
            Key::Up | Key::BackTab => self.go_to(self.at + self.fields.len() - 1)?,
            Key::Down | Key::Tab => self.go_to(self.at + 1)?,
            Key::Left | Key::Right if self.fields[self.at].is_set && self.has_choices() => {
                self.choose_next(key)?;
            }
            Key::Click(position) => {
                let mut places = self.places.iter();
                match places.find(|(area, _)| area.contains(position)).cloned() {
                    Some((_, ClickPlace::Field(at))) => self.go_to(at)?,
                    Some((_, ClickPlace::Choice(choice))) => self.choose(&choice)?,
                    Some((_, ClickPlace::Begin)) => return self.begin(),
                    Some((_, ClickPlace::Command(command))) => return Ok(self.run(command)),
                    None => {}
                }
            }
            key => {
                let field = &mut self.fields[self.at];
                if field.is_set && matches!(key, Key::Letter(_)) {
                    field.line = TypedLine::default();
                }
                if field.line.press(key) {
                    field.is_set = false;
                }
            }
        }
        Ok(None)
    }

    /// Quits, or shows what can be read.
    fn run(&mut self, command: Command) -> Option<Settled> {
        if command == Command::Quit {
            return Some(Settled::Left);
        }
        let mut text = words::settings_help(self.language, &self.settings.keys());
        text += "\n";
        text += &words::bots(self.language, self.info());
        text += &words::rules(self.language, self.info());
        self.page = Some(TextPage::new(text));
        None
    }

    fn begin(&mut self) -> anyhow::Result<Option<Settled>> {
        self.set()?;
        let wrong = (self.fields.iter()).position(|field| !field.error.is_empty());
        match wrong {
            None => Ok(Some(Settled::Start)),
            Some(at) => {
                self.at = at;
                Ok(None)
            }
        }
    }

    /// To another field; behind the last one is the first one.
    fn go_to(&mut self, at: usize) -> anyhow::Result<()> {
        self.set()?;
        self.at = at % self.fields.len();
        Ok(())
    }

    /// Sets what was typed, or says below it what was expected.
    fn set(&mut self) -> anyhow::Result<()> {
        let field = &mut self.fields[self.at];
        if field.is_set {
            return Ok(());
        }
        let typed = field.line.text().trim().to_owned();
        if let Err(error) = self.settings.set(&field.setting.name, &typed) {
            field.error = format!("{error:#}");
            return Ok(());
        }
        field.error.clear();
        // A setting can be written in several ways, and can change what the others are.
        let here = field.setting.name.clone();
        let mut wrong: BTreeMap<String, FormField> = std::mem::take(&mut self.fields)
            .into_iter()
            .filter(|field| !field.error.is_empty())
            .map(|field| (field.setting.name.clone(), field))
            .collect();
        let fields = self.settings.all()?.into_iter().map(|setting| {
            let kept = wrong.remove(&setting.name);
            kept.unwrap_or_else(|| FormField::new(setting))
        });
        self.fields = fields.collect();
        let at = (self.fields.iter()).position(|field| field.setting.name == here);
        self.at = at.unwrap_or_default();
        Ok(())
    }

    fn has_choices(&self) -> bool {
        !self.fields[self.at].setting.choices.is_empty()
    }

    fn choose(&mut self, choice: &str) -> anyhow::Result<()> {
        let field = &mut self.fields[self.at];
        field.line = TypedLine::new(choice);
        field.is_set = false;
        self.set()
    }

    /// The choice before or behind this one.
    fn choose_next(&mut self, arrow: Key) -> anyhow::Result<()> {
        let Setting { choices, value, .. } = &self.fields[self.at].setting;
        let count = choices.len();
        let next = match (choices.iter().position(|choice| choice == value), arrow) {
            (Some(at), Key::Left) => (at + count - 1) % count,
            (Some(at), _) => (at + 1) % count,
            (None, _) => 0,
        };
        let choice = choices[next].clone();
        self.choose(&choice)
    }

    fn render(&mut self, frame: &mut Frame) {
        let area = frame.area();
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            too_small(self.language, SMALLEST, frame);
            return;
        }
        let [title, _, body, keys] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
        ])
        .areas(area);
        let bar = Style::new().add_modifier(Modifier::REVERSED);
        let name = self.info().title_in(self.language);
        frame.render_widget(Paragraph::new(format!(" {name}")).style(bar), title);
        if let Some(page) = &mut self.page {
            page.render(frame, body);
            frame.render_widget(Line::raw(words::page_keys(self.language)), keys);
            return;
        }
        let mut places = Vec::new();
        let mut y = body.y;
        for (at, field) in self.fields.iter().enumerate() {
            let row = Rect::new(body.x, y, body.width, 1).intersection(body);
            places.push((row, ClickPlace::Field(at)));
            self.render_field(at, field, frame, row);
            y += 1;
            let indent = usize::from(VALUES);
            let width = usize::from(body.width).saturating_sub(indent).max(1);
            for line in wrapped(&field.error, width) {
                let line = Line::styled(line, Style::new().fg(Color::Red));
                let row = Rect::new(body.x + VALUES, y, body.width, 1).intersection(body);
                frame.render_widget(line, row);
                y += 1;
            }
        }
        y = self.render_choices(frame, body, y + 1, &mut places);
        let begin = Line::raw(format!("[ {} ]", words::begin(self.language)));
        let place = Rect::new(body.x + 2, y + 1, begin.width() as u16, 1).intersection(body);
        frame.render_widget(begin, place);
        places.push((place, ClickPlace::Begin));
        self.render_keys(frame, keys, &mut places);
        self.places = places;
        // An error may need more lines.
        if y + 2 > keys.y {
            too_small(self.language, (area.width, y + 2 + keys.height), frame);
        }
    }

    fn render_field(&self, at: usize, field: &FormField, frame: &mut Frame, row: Rect) {
        let Setting { name, remark, .. } = &field.setting;
        let label = words::setting_label(self.language, name);
        let is_here = at == self.at;
        let mark = if is_here { '>' } else { ' ' };
        frame.render_widget(Line::raw(format!("{mark} {label}")), row);
        let value = Rect {
            x: row.x + VALUES,
            width: row.width.saturating_sub(VALUES),
            ..row
        };
        if is_here && !field.is_set {
            field.line.render("", frame, value);
            return;
        }
        let mut style = Style::new();
        if is_here {
            style = style.add_modifier(Modifier::REVERSED);
            frame.set_cursor_position(Position::new(value.x, value.y));
        }
        let remark = anstream::adapter::strip_str(remark).to_string();
        let shown = [Span::styled(field.line.text(), style), Span::raw(remark)];
        frame.render_widget(Line::from_iter(shown), value);
    }

    /// The values that can be chosen for the field that is typed in. Returns the first line below.
    fn render_choices(
        &self,
        frame: &mut Frame,
        body: Rect,
        mut y: u16,
        places: &mut Vec<(Rect, ClickPlace)>,
    ) -> u16 {
        let Setting { choices, value, .. } = &self.fields[self.at].setting;
        if choices.is_empty() {
            return y;
        }
        let left = body.x + 2;
        let row = Rect::new(left, y, body.width, 1).intersection(body);
        frame.render_widget(Line::raw(words::choices(self.language)), row);
        let mut x = body.right();
        for choice in choices {
            let style = match choice == value {
                true => Style::new().add_modifier(Modifier::REVERSED),
                false => Style::new().add_modifier(Modifier::UNDERLINED),
            };
            let span = Span::styled(choice.clone(), style);
            let width = span.width() as u16;
            if x + width > body.right() {
                (x, y) = (left, y + 1);
            }
            let place = Rect::new(x, y, width, 1).intersection(body);
            frame.render_widget(span, place);
            places.push((place, ClickPlace::Choice(choice.clone())));
            x += width + 2;
        }
        y + 1
    }

    fn render_keys(&self, frame: &mut Frame, row: Rect, places: &mut Vec<(Rect, ClickPlace)>) {
        let is_typed = self.fields[self.at].takes_any_letter();
        let shown = [
            ("Enter".to_owned(), ClickPlace::Begin),
            ("F1".to_owned(), ClickPlace::Command(Command::Help)),
            (
                if is_typed { "Esc" } else { "q" }.to_owned(),
                ClickPlace::Command(Command::Quit),
            ),
        ];
        let bar = shown.into_iter().map(|(key, place)| {
            let label = match &place {
                ClickPlace::Command(command) => words::key_label(self.language, *command),
                _ => words::begin(self.language),
            };
            (key, label, place)
        });
        let (mut lines, hits) = super::keys_lines(bar, row.width);
        // The few of a form have room on one line.
        let line = lines.swap_remove(0);
        let moved = hits.into_iter().map(|(place, what)| {
            let y = place.y + row.y;
            (Rect { y, ..place }, what)
        });
        places.extend(moved);
        let how = Line::raw(words::form_keys(self.language)).right_aligned();
        if line.width() + how.width() <= row.width.into() {
            frame.render_widget(how, row);
        }
        frame.render_widget(line, row);
    }
}

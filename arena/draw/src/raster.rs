//! Pictures as pixels: PNG, and animated PNG.

use std::{sync::Arc, time::Duration};

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder, EncodingError, Filter};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{
        self,
        fontdb::{Database, Family, Query},
    },
};

use crate::picture::{Picture, size_of_all};

/// The most pixels of a picture.
const MOST_PIXELS: f32 = 4096.0 * 4096.0;
/// Factor by which the last frame is shown longer than the others.
const PAUSE: u16 = 4;

/// Reason why there is no picture: could not draw it, because of ….
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// It is no SVG file.
    #[error("the picture is not an SVG file: {0}")]
    Svg(#[from] usvg::Error),
    /// It is too large, or empty.
    #[error("{width} by {height} pixels: expected at least 1 and at most 16 million in all")]
    Size {
        /// Number of pixels in a line.
        width: f32,
        /// Number of lines.
        height: f32,
    },
    /// There is nothing to show.
    #[error("an animation needs at least one picture")]
    NoFrames,
    /// The format can't hold it.
    #[error("the PNG was not written: {0}")]
    Png(#[from] EncodingError),
}

/// The fonts for labels. Finding them takes a while, so they are found once.
#[derive(Clone, Debug, Default)]
pub struct Fonts(Arc<Database>);

/// A picture as a PNG file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// The file.
    pub bytes: Vec<u8>,
    /// True if labels are missing, because there are no fonts.
    pub labels_left_out: bool,
}

impl Fonts {
    /// No fonts: labels are left out.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The fonts of this machine, if it has any. This reads files.
    #[must_use]
    pub fn of_system() -> Self {
        let mut fonts = Database::new();
        fonts.load_system_fonts();
        let sans_serif = fonts.query(&Query {
            families: &[Family::SansSerif],
            ..Query::default()
        });
        // Without a font of that name, the plainest; any is better than none.
        if sans_serif.is_none() {
            let families = fonts.faces().flat_map(|face| &face.families);
            let plainest = families
                .map(|(family, _)| family.clone())
                .min_by_key(|family| (!family.contains("Sans"), family.len()));
            if let Some(family) = plainest {
                fonts.set_sans_serif_family(family);
            }
        }
        Self(Arc::new(fonts))
    }

    /// True if labels can't be drawn.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Draws an SVG file, as [`Picture::standalone`] writes it, this much larger.
///
/// # Errors
/// It is no such file, or too large.
pub fn png(svg: &str, scale: f32, fonts: &Fonts) -> Result<Raster, DrawError> {
    let image = pixels(svg, scale, fonts)?;
    let (width, height) = (image.width(), image.height());
    let mut bytes = Vec::new();
    let mut writer = encoder(&mut bytes, width, height).write_header()?;
    writer.write_image_data(&cut(&image, Region::all(&image)))?;
    writer.finish()?;
    Ok(Raster {
        bytes,
        labels_left_out: fonts.is_empty(),
    })
}

/// Draws an animated PNG that shows these pictures one after another, each for this long (a minute
/// at most), again and again. A reader that plays no animations shows the first.
///
/// # Errors
/// There are no pictures, or they are too large.
pub fn apng(
    frames: &[Picture],
    frame: Duration,
    scale: f32,
    fonts: &Fonts,
) -> Result<Raster, DrawError> {
    let size = size_of_all(frames);
    let count = u32::try_from(frames.len()).unwrap_or(u32::MAX);
    let (Some((first, others)), delay) = (frames.split_first(), delay(frame)) else {
        return Err(DrawError::NoFrames);
    };
    let draw = |picture: &Picture| pixels(&picture.file(size, ""), scale, fonts);
    let mut before = draw(first)?;

    let mut bytes = Vec::new();
    let mut encoder = encoder(&mut bytes, before.width(), before.height());
    encoder.set_animated(count, 0)?;
    encoder.set_frame_delay(delay, 1_000)?;
    encoder.set_blend_op(BlendOp::Source)?;
    encoder.set_dispose_op(DisposeOp::None)?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&cut(&before, Region::all(&before)))?;
    for (at, picture) in others.iter().enumerate() {
        let image = draw(picture)?;
        let region = Region::changed(&before, &image);
        writer.reset_frame_position()?;
        writer.set_frame_dimension(region.width, region.height)?;
        writer.set_frame_position(region.x, region.y)?;
        if at + 1 == others.len() {
            writer.set_frame_delay(delay.saturating_mul(PAUSE), 1_000)?;
        }
        writer.write_image_data(&cut(&image, region))?;
        before = image;
    }
    writer.finish()?;
    Ok(Raster {
        bytes,
        labels_left_out: fonts.is_empty(),
    })
}

/// In milliseconds, as the format has it.
fn delay(frame: Duration) -> u16 {
    u16::try_from(frame.as_millis()).unwrap_or(u16::MAX)
}

fn encoder(bytes: &mut Vec<u8>, width: u32, height: u32) -> Encoder<'static, &mut Vec<u8>> {
    let mut encoder = Encoder::new(bytes, width, height);
    encoder.set_color(ColorType::Rgba);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    // Filters find nothing in large plain areas, and what they write is harder to compress.
    encoder.set_filter(Filter::NoFilter);
    encoder
}

fn pixels(svg: &str, scale: f32, fonts: &Fonts) -> Result<Pixmap, DrawError> {
    let options = usvg::Options {
        fontdb: Arc::clone(&fonts.0),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let (width, height) = (
        (tree.size().width() * scale).round(),
        (tree.size().height() * scale).round(),
    );
    // A scale that is not a number makes sizes that are none.
    let fits = width >= 1.0 && height >= 1.0 && width * height <= MOST_PIXELS;
    let image = if fits {
        Pixmap::new(width as u32, height as u32)
    } else {
        None
    };
    let mut image = image.ok_or(DrawError::Size { width, height })?;
    let across = width / tree.size().width();
    let down = height / tree.size().height();
    resvg::render(
        &tree,
        Transform::from_scale(across, down),
        &mut image.as_mut(),
    );
    Ok(image)
}

/// A part of an image.
#[derive(Clone, Copy)]
struct Region {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

impl Region {
    fn all(image: &Pixmap) -> Self {
        Self {
            x: 0,
            y: 0,
            width: image.width(),
            height: image.height(),
        }
    }

    /// The region in which two images of one size differ; one pixel if they do not.
    fn changed(before: &Pixmap, after: &Pixmap) -> Self {
        let width = after.width().max(1) as usize;
        let lines = before
            .pixels()
            .chunks(width)
            .zip(after.pixels().chunks(width));
        let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
        for (y, (before, after)) in lines.enumerate() {
            let differs = |x: &usize| before[*x] != after[*x];
            let Some(first) = (0..after.len()).find(differs) else {
                continue;
            };
            let last = (0..after.len()).rfind(differs).unwrap_or(first);
            left = left.min(first);
            right = right.max(last);
            top = top.min(y);
            bottom = y;
        }
        if top == usize::MAX {
            (left, top) = (0, 0);
        }
        Self {
            x: left as u32,
            y: top as u32,
            width: (right - left + 1) as u32,
            height: (bottom - top + 1) as u32,
        }
    }
}

/// The colours of a region, as the format has them.
fn cut(image: &Pixmap, region: Region) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(region.width as usize * region.height as usize * 4);
    let lines = image.pixels().chunks(image.width().max(1) as usize);
    let lines = lines.skip(region.y as usize).take(region.height as usize);
    for line in lines {
        for pixel in &line[region.x as usize..(region.x + region.width) as usize] {
            let colour = pixel.demultiply();
            bytes.extend([colour.red(), colour.green(), colour.blue(), colour.alpha()]);
        }
    }
    bytes
}

//! Images sent by callers: as files, in base64, as data URLs or as URLs.

use bytes::Bytes;
use domain::media::{self, MediaSource};
use engine::ImageFile;
use http_frame::input::{FILE_BYTES_MAX, UploadedFile};
use http_frame::refusal::Refusal;
use pictures::{ImageBounds, ImageEncoding, ImageOperations, ResizeMode};
use schema_check::{ValidationFault, ValidationFaults};

use crate::image_processing::{self, ImageProcessor};

/// The specification's limits.
const PIXELS_MIN: u64 = 65_536;
pub(in crate::endpoints) const PIXELS_MAX: u64 = 33_177_600;
/// The shortest side that engines can use.
pub(in crate::endpoints) const SIDE_MIN: u32 = 64;
const BASE64_TOO_LARGE: usize = FILE_BYTES_MAX.div_ceil(3) * 4;

/// An image that was not decoded yet, with its request field.
#[derive(Debug)]
pub(in crate::endpoints) struct SentImage {
    field: String,
    content: SentImageContent,
}

#[derive(Debug)]
enum SentImageContent {
    Bytes(Bytes),
    Address(String),
}

impl SentImage {
    pub(super) fn from_upload(upload: UploadedFile) -> SentImage {
        let field = upload.field.trim_end_matches("[]").to_owned();
        SentImage { field, content: SentImageContent::Bytes(upload.bytes) }
    }

    /// Parses base64, a data URL or a URL.
    pub(in crate::endpoints) fn from_text(
        field: impl Into<String>,
        text: &str,
    ) -> Result<SentImage, Refusal> {
        let field = field.into();
        let wrong =
            |fault: &dyn std::fmt::Display| Refusal::not_an_image(format!("`{field}`: {fault}"));
        let is_long = BASE64_TOO_LARGE < text.len();
        let has_scheme = text.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:"))
            || text.contains("://");
        let base64 = if has_scheme {
            match media::parse_source(text).map_err(|fault| wrong(&fault))? {
                MediaSource::Inline(inline) => inline.base64,
                MediaSource::Address => {
                    return Ok(SentImage {
                        field,
                        content: SentImageContent::Address(text.to_owned()),
                    });
                }
            }
        } else {
            text
        };
        if is_long && BASE64_TOO_LARGE < base64.len() {
            return Err(Refusal::file_too_large());
        }
        let bytes = media::decode_base64(base64).map_err(|fault| wrong(&fault))?;
        Ok(SentImage { field, content: SentImageContent::Bytes(bytes.into()) })
    }

    /// Decodes the image within the limits of edits, and encodes it for engines.
    pub(super) async fn open(self, studio: &ImageProcessor) -> Result<ImageFile, Refusal> {
        let bounds =
            ImageBounds { pixels_min: PIXELS_MIN, pixels_max: PIXELS_MAX, side_min: SIDE_MIN };
        self.open_within(studio, bounds, None).await
    }

    /// The same within other limits, scaled down if `resize` says so.
    pub(in crate::endpoints) async fn open_within(
        self,
        studio: &ImageProcessor,
        bounds: ImageBounds,
        resize: Option<ResizeMode>,
    ) -> Result<ImageFile, Refusal> {
        let bytes = match self.content {
            SentImageContent::Bytes(bytes) => bytes,
            SentImageContent::Address(address) => {
                let fetched = studio.fetch_image(&address).await?;
                let refuse = |told| Refusal::not_an_image(format!("`{}`: {told}", self.field));
                fetched.map_err(refuse)?
            }
        };
        let order = ImageOperations {
            bounds,
            is_strict: true,
            resize,
            blur: false,
            mark: None,
            write: ImageEncoding::ForEngines,
            facts: None,
        };
        let outcome = studio.process_image(order, bytes).await?;
        let outcome = outcome.map_err(|fault| Refusal::unreadable_image(&self.field, &fault))?;
        Ok(image_processing::for_engines(outcome))
    }
}

/// The only image of a request, as a file or as text.
pub(super) fn take_one_image(
    files: Vec<UploadedFile>,
    field: &'static str,
    text: Option<&str>,
) -> Result<SentImage, Refusal> {
    let mut given: Vec<SentImage> =
        filter_field_files(files, field).map(SentImage::from_upload).collect();
    if let Some(text) = text {
        given.push(SentImage::from_text(field, text)?);
    }
    let mut given = given.into_iter();
    match (given.next(), given.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Refusal::invalid_request(&ValidationFaults::one(
            [field],
            ValidationFault::missing("string"),
        ))),
        (Some(_), Some(_)) => {
            Err(Refusal::not_an_image(format!("Send one `{field}`, not several.")))
        }
    }
}

/// The files of one field, with or without `[]` in its name.
pub(super) fn filter_field_files(
    files: Vec<UploadedFile>,
    field: &'static str,
) -> impl Iterator<Item = UploadedFile> {
    files.into_iter().filter(move |it| it.field.trim_end_matches("[]") == field)
}

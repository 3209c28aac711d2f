//! `[media]`: storage of generated images, audio and video until they are retrieved.

use std::path::PathBuf;

use crate::key::ConfigSection;
use crate::key_type::{BASE_URL, TEXT, url};
use crate::reader::TableReader;
use crate::section_table::{SectionTable, config_section};

config_section! {
    /// Storage of generated images, audio and video until they are retrieved.
    #[section(One, "media")]
    pub(crate) struct MediaKeys {
        /// `file:` and a directory, relative to the data directory, or `s3://bucket/prefix`. S3
        /// credentials are taken from the environment (AWS_ACCESS_KEY_ID and related variables)
        /// or from the machine's role.
        url: String = url(&["file:", "s3://"]), default("file:media");
        /// The URL of an S3 service other than Amazon's, such as "http://127.0.0.1:9000".
        endpoint: Option<String> = BASE_URL, optional;
        /// The region of the bucket.
        region: Option<String> = TEXT, optional;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaConfig {
    /// A directory, relative to the data directory.
    Directory(PathBuf),
    S3 {
        bucket: String,
        prefix: String,
        endpoint: Option<String>,
        region: Option<String>,
    },
}

impl SectionTable for MediaConfig {
    const SECTION: ConfigSection = MediaKeys::SECTION;

    fn read(reader: &TableReader<'_>) -> Option<MediaConfig> {
        let MediaKeys { url, endpoint, region } = MediaKeys::read(reader)?;
        if let Some(place) = url.strip_prefix("s3://") {
            let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
            let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
            return Some(MediaConfig::S3 { bucket, prefix, endpoint, region });
        }
        for key in ["endpoint", "region"] {
            if reader.has_key(key) {
                reader.report_fault(key, format!("`{key}` in [media] is for `s3://` only"));
            }
        }
        let directory = url.strip_prefix("file:").unwrap_or_default();
        if directory.is_empty() {
            reader.report_fault("url", "`url` in [media] names no directory; write \"file:media\"");
            return None;
        }
        Some(MediaConfig::Directory(PathBuf::from(directory)))
    }
}

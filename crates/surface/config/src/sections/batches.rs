//! `[batches]` and `[files]`: lists of calls that run when there is room for them, and their files.

use std::time::Duration;

use money::PriceFactor;

use crate::key::ValueKind;
use crate::key_type::{KeyType, integer};
use crate::section_table::config_section;

const DAY_S: u64 = 86_400;
/// Bytes of a megabyte, as the limits of files are written.
const MEGABYTE: u64 = 1_000_000;

/// A factor on prices.
const FACTOR: KeyType<PriceFactor> = KeyType {
    kind: ValueKind::Decimal,
    read: |reader, name| {
        reader.decimal(name, |text| match PriceFactor::parse(text) {
            Ok(Some(factor)) => Ok(factor),
            Ok(None) => Err("must be above 0 and at most 1".to_owned()),
            Err(error) => Err(error.to_string()),
        })
    },
};

config_section! {
    /// Batches: files of calls that run when there is room for them, at a reduced price.
    #[section(One, "batches")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BatchesConfig {
        /// Factor on all prices of a line, above 0 and at most 1.
        price_factor: PriceFactor = FACTOR, default("0.5");
        /// The maximum number of lines at once, of all batches together. Lines make room for
        /// other calls, and accounts take turns.
        concurrency: usize = integer(1, 1_000), default(8);
        /// The maximum number of lines of a batch.
        "max_lines" => lines_max: u32 = integer(1, 1_000_000), default(50000);
        /// The maximum size of a line.
        "max_line_mb" => line_mb_max: u64 = integer(1, 32), default(8);
        /// The maximum size of the results of a batch. Further lines fail and are not charged.
        "max_output_mb" => output_mb_max: u64 = integer(1, 16_000), default(2000);
        /// The maximum number of batches of an account that have not ended. Further ones are
        /// refused.
        open_per_account: usize = integer(1, 10_000), default(20);
        /// Time after which an ended batch is deleted.
        "keep_days" => retention: Duration = DAYS, default(30);
    }
}

config_section! {
    /// Files of callers, which batches read and write. They are stored like generated media, each
    /// encrypted with its own key.
    #[section(One, "files")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FilesConfig {
        /// The maximum size of an uploaded file.
        "max_mb" => mb_max: u64 = integer(1, 512), default(100);
        /// The maximum number of files of an account.
        per_account: u64 = integer(1, 100_000), default(1000);
        /// The maximum size of an account's files together. Callers without a balance may have 10
        /// files of 1 MB together.
        "max_mb_per_account" => mb_per_account_max: u64 = integer(1, 1_000_000), default(10000);
        /// Time after which a file is deleted.
        "keep_days" => retention: Duration = DAYS, default(30);
    }
}

/// A number of days, from one to a year.
const DAYS: KeyType<Duration> = KeyType {
    kind: ValueKind::Integer { least: 1, most: 365 },
    read: |reader, name| {
        let days = u64::try_from(reader.integer(name)?).ok()?;
        Some(Duration::from_secs(days * DAY_S))
    },
};

impl BatchesConfig {
    /// The largest line, in bytes.
    pub fn line_bytes_max(&self) -> usize {
        usize::try_from(self.line_mb_max * MEGABYTE).unwrap_or(usize::MAX)
    }

    pub fn output_bytes_max(&self) -> u64 {
        self.output_mb_max * MEGABYTE
    }
}

impl FilesConfig {
    pub fn bytes_max(&self) -> u64 {
        self.mb_max * MEGABYTE
    }

    pub fn bytes_per_account_max(&self) -> u64 {
        self.mb_per_account_max * MEGABYTE
    }
}

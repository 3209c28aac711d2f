//! Checks a whole input file before its first line runs.

use std::collections::HashSet;

use sha2::{Digest, Sha256};
use store::batch::StoredBatch;

use crate::faults::{BatchFault, FAULTS_MAX};
use crate::line_check::parse_line;
use crate::line_reader::InputLine;
use crate::run::BatchRunStop;
use crate::service::BatchService;

/// Bytes of the digest by which two equal ids are recognised.
const DIGEST_BYTES: usize = 16;

/// The faults found so far, and what must be known of the lines before.
struct FileCheck<'a> {
    endpoint: &'a str,
    lines_max: u32,
    line_bytes_max: usize,
    lines: u32,
    ids: HashSet<[u8; DIGEST_BYTES]>,
    faults: Vec<BatchFault>,
}

impl BatchService {
    /// The number of lines, or the faults of the file.
    pub(crate) async fn validate_input(
        &self,
        batch: &StoredBatch,
    ) -> Result<Result<u32, Vec<BatchFault>>, BatchRunStop> {
        let mut input = self.open_input(batch).await?;
        let mut check = FileCheck {
            endpoint: &batch.endpoint,
            lines_max: self.settings.lines_max,
            line_bytes_max: self.settings.line_bytes_max,
            lines: 0,
            ids: HashSet::new(),
            faults: Vec::new(),
        };
        while let Some(line) = input.next().await? {
            if !check.add_line(&line) {
                break;
            }
        }
        Ok(check.finish())
    }
}

impl FileCheck<'_> {
    /// Returns false if the rest of the file need not be read.
    fn add_line(&mut self, line: &InputLine) -> bool {
        self.lines += 1;
        if self.lines_max < self.lines {
            let most = self.lines_max;
            let message = format!("The file has more than {most} requests.");
            self.faults.push(BatchFault::of_file("too_many_requests", message));
            return false;
        }
        match line {
            InputLine::TooLong { number } => {
                let message = format!("The line has more than {} bytes.", self.line_bytes_max);
                let fault = BatchFault::of_line(*number, "line_too_long", None, message);
                self.faults.push(fault);
            }
            InputLine::Text { number, bytes } => match parse_line(*number, bytes, self.endpoint) {
                Ok(call) => self.note_id(*number, &call.custom_id),
                Err(faults) => self.faults.extend(faults),
            },
        }
        if self.faults.len() < FAULTS_MAX {
            return true;
        }
        self.faults.truncate(FAULTS_MAX);
        let message = "The file has more faults, which are not listed.";
        self.faults.push(BatchFault::of_file("too_many_faults", message));
        false
    }

    fn note_id(&mut self, number: u32, custom_id: &str) {
        let digest = Sha256::digest(custom_id.as_bytes());
        let mut short = [0; DIGEST_BYTES];
        short.copy_from_slice(&digest[..DIGEST_BYTES]);
        if !self.ids.insert(short) {
            let message = "An earlier line has the same `custom_id`.";
            let param = Some("custom_id");
            self.faults.push(BatchFault::of_line(number, "duplicate_custom_id", param, message));
        }
    }

    fn finish(mut self) -> Result<u32, Vec<BatchFault>> {
        if self.lines == 0 {
            let message = "The file has no request.";
            self.faults.push(BatchFault::of_file("empty_file", message));
        }
        if self.faults.is_empty() { Ok(self.lines) } else { Err(self.faults) }
    }
}

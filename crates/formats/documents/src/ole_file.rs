//! The OLE compound file of Office 97 to 2003: a small file system, from which one stream is read.

use crate::fault::{self, DocumentReadError};

/// Ends each chain of sectors.
const END_OF_CHAIN: u32 = 0xffff_fffe;
/// Offset and length of the list of table sectors in the header.
const LIST_AT: usize = 76;
const LIST_ENTRIES: usize = 109;
const HEADER_BYTES: usize = 512;
const ENTRY_BYTES: usize = 128;

pub(crate) struct OleFile<'a> {
    bytes: &'a [u8],
    sector_bytes: usize,
    /// The sector allocation table: the successor of each sector.
    table: Vec<u32>,
    entries: Vec<OleEntry>,
}

struct OleEntry {
    name: String,
    start: u32,
    size: usize,
}

impl<'a> OleFile<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<OleFile<'a>, DocumentReadError> {
        let sector_bytes = match read_u16(bytes, 30)? {
            9 => 512,
            12 => 4096,
            _ => return Err(fault::DAMAGED),
        };
        let mut compound = OleFile { bytes, sector_bytes, table: Vec::new(), entries: Vec::new() };
        compound.table = compound.read_table()?;
        let directory = compound.read_chain(read_u32(bytes, 48)?)?;
        for entry in directory.chunks_exact(ENTRY_BYTES) {
            compound.entries.push(OleEntry::parse(entry)?);
        }
        Ok(compound)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find_entry(name).is_some()
    }

    pub(crate) fn read_stream(&self, name: &str) -> Result<Vec<u8>, DocumentReadError> {
        let entry = self.find_entry(name).ok_or(fault::MISSING_PART)?;
        // Smaller streams are stored elsewhere, which is not supported. Programs make workbook
        // streams larger than that.
        let small_below = read_u32(self.bytes, 56)?;
        if u32::try_from(entry.size).is_ok_and(|size| size < small_below) {
            return Err(fault::OLD_OFFICE);
        }
        let mut stream = self.read_chain(entry.start)?;
        if stream.len() < entry.size {
            return Err(fault::DAMAGED);
        }
        stream.truncate(entry.size);
        Ok(stream)
    }

    fn find_entry(&self, name: &str) -> Option<&OleEntry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The table is stored in sectors that are listed in the header and, if there are many, in
    /// further sectors.
    fn read_table(&self) -> Result<Vec<u32>, DocumentReadError> {
        let header = self.bytes.get(LIST_AT..HEADER_BYTES).ok_or(fault::DAMAGED)?;
        let mut sectors: Vec<u32> = iter_u32(header).take(LIST_ENTRIES).collect();
        let mut next = read_u32(self.bytes, 68)?;
        for _ in 0..self.sectors_max() {
            let Ok(sector) = self.read_sector(next) else { break };
            sectors.extend(iter_u32(sector));
            next = sectors.pop().unwrap_or(END_OF_CHAIN);
        }
        let mut table = Vec::new();
        // Numbers beyond the file mark free entries.
        for sector in sectors.into_iter().take(self.sectors_max()) {
            let Ok(sector) = self.read_sector(sector) else { break };
            table.extend(iter_u32(sector));
        }
        Ok(table)
    }

    /// The bytes of a chain of sectors; at most as many sectors as the file has.
    fn read_chain(&self, start: u32) -> Result<Vec<u8>, DocumentReadError> {
        let mut bytes = Vec::new();
        let mut sector = start;
        for _ in 0..self.sectors_max() {
            if sector == END_OF_CHAIN {
                return Ok(bytes);
            }
            bytes.extend_from_slice(self.read_sector(sector)?);
            sector = find_next_sector(&self.table, sector)?;
        }
        Err(fault::DAMAGED)
    }

    /// Sector 0 follows the header, which takes one sector. The last sector may be truncated.
    fn read_sector(&self, number: u32) -> Result<&'a [u8], DocumentReadError> {
        let number = usize::try_from(number).map_err(|_| fault::DAMAGED)?;
        let from = number.checked_add(1).and_then(|it| it.checked_mul(self.sector_bytes));
        let from = from.filter(|from| *from < self.bytes.len()).ok_or(fault::DAMAGED)?;
        let to = from.saturating_add(self.sector_bytes).min(self.bytes.len());
        self.bytes.get(from..to).ok_or(fault::DAMAGED)
    }

    fn sectors_max(&self) -> usize {
        self.bytes.len() / self.sector_bytes + 1
    }
}

impl OleEntry {
    fn parse(bytes: &[u8]) -> Result<OleEntry, DocumentReadError> {
        let name_bytes = usize::from(read_u16(bytes, 64)?).min(64).saturating_sub(2);
        let (units, _) = bytes.get(..name_bytes).unwrap_or_default().as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        Ok(OleEntry {
            name: String::from_utf16_lossy(&units),
            start: read_u32(bytes, 116)?,
            size: usize::try_from(read_u32(bytes, 120)?).map_err(|_| fault::DAMAGED)?,
        })
    }
}

fn find_next_sector(table: &[u32], sector: u32) -> Result<u32, DocumentReadError> {
    let index = usize::try_from(sector).map_err(|_| fault::DAMAGED)?;
    table.get(index).copied().ok_or(fault::DAMAGED)
}

fn read_u16(bytes: &[u8], at: usize) -> Result<u16, DocumentReadError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<2>());
    found.map(|it| u16::from_le_bytes(*it)).ok_or(fault::DAMAGED)
}

fn read_u32(bytes: &[u8], at: usize) -> Result<u32, DocumentReadError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>());
    found.map(|it| u32::from_le_bytes(*it)).ok_or(fault::DAMAGED)
}

fn iter_u32(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

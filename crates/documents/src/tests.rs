//! Documents by real programs, and hostile ones.

mod golden;
mod hostile;
mod old_sheets;
mod pack;
mod pdf_encrypted;
mod pdf_fonts;
mod pdf_golden;
mod pdf_hostile;
mod pdf_pack;
mod sheets;
mod texts;

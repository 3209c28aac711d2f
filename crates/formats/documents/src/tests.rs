//! Tests with documents of real programs, and with malicious ones.

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

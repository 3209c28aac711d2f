//! Statements that both databases run, each written once with its values and the reading of its
//! rows.
//!
//! A subject is one file: its statements, `impl<S: SqlStore> …Store for S` for its queries, and a
//! `post_…` function for its writes. A text is written for both databases; a word that differs is
//! a constant of [`text`]. A database runs them through [`SqlConnection`] and [`SqlPosting`].

mod access;
mod audit;
mod batches;
pub mod books;
pub mod characters;
mod claims;
pub mod connection;
mod conversations;
mod evidence;
mod files;
mod jobs;
mod journal;
mod keys;
mod ledger;
mod media;
mod owners;
pub mod posting;
mod records;
mod request_search;
mod responses;
pub mod row;
mod rpc;
mod session_usage;
pub mod settings;
mod statement;
pub mod text;
pub mod usage;
pub mod value;
mod wallets;

pub use connection::{ReadMode, RowReader, SqlConnection, SqlFuture, SqlStore};
pub use posting::{SqlPosting, SqlValues, post_write};
pub use row::{ColumnValue, SqlRow};
pub use text::SqlText;
pub use value::{SqlValue, to_signed};

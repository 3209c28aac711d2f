//! `POST /messages`, `POST /messages/count_tokens` and models in the form of Anthropic's API.

mod error;
mod event;
mod models;
mod reply;
mod request;

pub use error::{MessagesError, MessagesFault};
pub use event::{BlockDelta, MessageEnd, MessageEvent};
pub use models::{AnthropicModel, AnthropicModelKind, ModelPage};
pub use reply::{
    CacheWriteUsage, McpResultReply, MessageBlockReply, MessageReply, MessageStopReason,
    MessagesUsage, OutputUsageDetails, SearchResultReply, ServerToolUsage, TokenCountReply,
};
pub use request::{
    McpToolConfiguration, McpToolOptions, MessageBlock, MessageTurn, MessagesMcpServer,
    MessagesRequest, MessagesTool, TokenCountRequest, TurnContent,
};

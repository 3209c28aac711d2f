//! `/responses`: OpenAI's Responses API.

mod event;
mod input;
mod mcp;
mod reply;
mod request;
mod stored;
mod tool;

pub use event::{EventBody, ResponseEvent};
pub use input::{
    AdditionalTools, CustomToolCall, CustomToolCallOutput, FunctionCall, FunctionCallOutput,
    ImageSource, Input, InputContent, InputFile, InputItem, InputMessage, InputPart, InputRole,
    ItemReference, MessageKind, OtherItem, PastCompaction, PastItem, PastReasoning, PastSearch,
    PastStatus, PastSummary, ToolOutput, ToolSearchCall, ToolSearchOutput,
};
pub use mcp::{
    McpAllowedTools, McpApprovalFilters, McpApprovalMode, McpApprovalResponse, McpApprovalSetting,
    McpListedTool, McpToolFields, McpToolsFilter, PastMcpApprovalRequest, PastMcpCall, PastMcpList,
};
pub use reply::{
    EchoedSelection, EchoedTool, EchoedToolChoice, EchoedToolFormat, IncompleteDetails,
    IncompleteReason, InputTokensDetails, ItemStatus, OutputItem, OutputPart, OutputTokensDetails,
    Response, ResponseAnnotation, ResponseError, ResponseStatus, ResponseUsage, SearchAction,
    SearchSource, StoredFields, SummaryPart,
};
pub use request::{ResponseRequest, ResponseTextFormat, ResponseTextOptions};
pub use stored::{
    ConversationName, ConversationReference, ResponseCharge, ResponseDeleted, ResponseList,
    ResponseListQuery, ResponsePath, ResponseQuery, ResponseSummary,
};
pub use tool::{
    CustomToolFormat, RankingOptions, ResponseTool, ResponseToolChoice, SearchContextSize,
    ToolSelection, UserLocation,
};

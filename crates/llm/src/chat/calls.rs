//! Assembles the calls of a streamed chat reply. A piece belongs to the call with its index if it has
//! one, else to the call with its id, else to the last call.

use serde::Deserialize;
use serde_json::{Value, json};
use types::Fault;

use crate::assembly::{Assembly, BlockIndex};
use crate::faults::unsupported;
use crate::json::{Loose, Text, text};

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    index: Option<u64>,
    #[serde(borrow, default)]
    id: Text<'a>,
    #[serde(borrow, default)]
    function: Option<FunctionDelta<'a>>,
    /// A call with free text instead of arguments. Bosun offers no such tools.
    custom: Option<Value>,
    extra_content: Option<Value>,
}

#[derive(Deserialize)]
struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Loose<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    index: Option<u64>,
    place: BlockIndex,
    id: String,
    name: String,
    extra: Option<Value>,
}

impl Calls {
    pub(super) fn delta(
        &mut self,
        assembly: &mut Assembly,
        delta: CallDelta<'_>,
    ) -> Result<(), Fault> {
        if let Some(custom) = delta.custom.filter(|custom| !custom.is_null()) {
            return Err(unsupported("a custom tool call", text(&custom, "name")));
        }
        let id = delta.id.some();
        let function = delta.function;
        let name = function.as_ref().and_then(|function| function.name.some());
        let at = match self.find(delta.index, id, name) {
            Some(at) => {
                let call = &mut self.open[at];
                let late_id = id.filter(|_| call.id.is_empty());
                let late_name = name.filter(|_| call.name.is_empty());
                assembly.rename(call.place, late_id, late_name);
                call.id.push_str(late_id.unwrap_or_default());
                call.name.push_str(late_name.unwrap_or_default());
                at
            }
            None => {
                let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
                let place = assembly.open_call(id, name);
                let (id, name) = (id.to_owned(), name.to_owned());
                self.open.push(OpenCall { index: delta.index, place, id, name, extra: None });
                self.open.len() - 1
            }
        };
        let call = &mut self.open[at];
        call.extra = delta.extra_content.or(call.extra.take());
        match function.map(|function| function.arguments) {
            Some(Loose::Text(piece)) => assembly.push(call.place, &piece),
            Some(Loose::Other(value)) => assembly.push(call.place, &value.to_string()),
            _ => Ok(()),
        }
    }

    fn find(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let last = self.open.len().checked_sub(1)?;
        let at = match (index, id) {
            (Some(_), _) => self.open.iter().rposition(|call| call.index == index)?,
            (None, Some(id)) => self.open.iter().rposition(|call| call.id == id)?,
            (None, None) => last,
        };
        let known = &self.open[at];
        // A second name starts a second call if the id differs or there is no index.
        let other_id = id.is_some_and(|id| !known.id.is_empty() && known.id != id);
        let new_name = name.is_some() && !known.name.is_empty();
        let another = new_name && (other_id || index.is_none());
        (!another).then_some(at)
    }

    /// Additions of a server to its calls must be sent back with them.
    pub(super) fn keep_natives(&self, assembly: &mut Assembly) {
        for call in &self.open {
            if let Some(extra) = &call.extra {
                let function =
                    json!({ "name": call.name, "arguments": assembly.so_far(call.place) });
                let item = json!({
                    "id": call.id, "type": "function", "function": function, "extra_content": extra
                });
                assembly.native(call.place, item);
            }
        }
    }
}

//! What the page and programs read of a run: plain data, computed from its state and its recorded lines. Nothing here
//! reads a journal or a socket.

//! The model layer from outside: recorded answers of real providers, and servers that misbehave.

mod traffic;

/* The calls of engines: processes of their own beside PID 1 (main.c runs them). */
#ifndef SANDBOX_CALL_H
#define SANDBOX_CALL_H

#include "init.h"

/* call.c, call-exec.c, call-provide.c, frame.c, sha256.c */
int call(int argc, char **argv);
void call_provide(void);
void call_start(const char *name, const char *root);
void call_poll(const char *name, double seconds);
void call_upload(const char *name);
void call_read(const char *name, const char *stream, const char *offset, const char *length);
void call_forget(const char *name);
/* The answer of init to the words, NUL-terminated; ends the call when there is none. */
char *ask(char *const words[], size_t *size);
int exec_folder_of(const char *name);
/* Ends the call when init says that another container of the sandbox has the command, with that one's root. */
void refuse_elsewhere(const char *answer);
/* Prints the framed answer and ends the process. */
_Noreturn void reply(const char *status, const void *body, size_t size);
_Noreturn void reply_text(const char *status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The framed input: whole in memory, or written to the descriptor. Ends the call when it does not come whole. */
char *input_whole(size_t *size);
/* `draft` in `folder` is removed when the input does not come whole. */
const char *input_into(int fd, int folder, const char *draft);
/* This call has an input: what of it nobody read by its end, `reply` does. */
void input_expected(void);
/* Ends the call when nothing was read or written for a minute. */
void still_alive(void);

/* store.c */
int store_serve(const char *port, const char *folder);
int relay(const char *host, const char *port, const char *digest, int argc, char **argv);
_Noreturn void call_keep(const char *folder, const char *digest);

struct sha256 {
  uint32_t state[8];
  uint64_t length;
  unsigned char block[64];
};
void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t size);
/* 64 hex digits and a NUL. */
void sha256_end(struct sha256 *hash, char text[65]);

#endif

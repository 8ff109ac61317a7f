#include "call.h"
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "keeper")) return keeper(argv[2], argv);
  if (argc == 3 && !strcmp(argv[1], "destroy")) return destroy(argv[2]);
  if (argc > 3 && !strcmp(argv[1], "mapped")) return run_mapped(argc, argv);
  if (argc == 3 && !strcmp(argv[1], "contained")) return contained(argv[2]);
  if (argc > 2 && !strcmp(argv[1], "call")) return call(argc - 2, argv + 2);
  if (argc == 4 && !strcmp(argv[1], "serve")) return store_serve(argv[2], argv[3]);
  if (argc > 6 && !strcmp(argv[1], "relay") && !strcmp(argv[5], "call")) return relay(argv[2], argv[3], argv[4], argc - 6, argv + 6);
  note("usage: sandbox-init keeper FOLDER | destroy FOLDER | contained SECONDS | call WORDS... | serve PORT FOLDER | relay HOST PORT DIGEST call WORDS... | mapped ID_BASE GROUP_BASE COMMAND...");
  return 2;
}

#include "init.h"
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc == 3 && !strcmp(argv[1], "keeper")) return keeper(argv[2], argv);
  if (argc == 3 && !strcmp(argv[1], "destroy")) return destroy(argv[2]);
  if (argc > 3 && !strcmp(argv[1], "mapped")) return run_mapped(argc, argv);
  if (argc == 3 && !strcmp(argv[1], "contained")) return contained(argv[2]);
  if (argc > 2 && !strcmp(argv[1], "call")) return call(argc - 2, argv + 2);
  note("usage: sandbox-init keeper FOLDER | destroy FOLDER | contained SECONDS | call WORDS... | mapped ID_BASE GROUP_BASE COMMAND...");
  return 2;
}

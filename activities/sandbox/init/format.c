/*
 * Makes an empty ext4 file system in a fresh sparse file: base images have no mkfs, and this one writes two blocks per
 * 128 MiB. The layout is the plain one of ext2: each group holds its own bitmaps and inodes; no journal, no checksums.
 */
#include "init.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096ULL
#define GROUP_BLOCKS 32768ULL
#define GROUP_INODES 8192ULL
#define INODE 256ULL
#define TABLE_BLOCKS (GROUP_INODES * INODE / BLOCK)
#define ROOT_INODE 2
#define FIRST_INODE 11

static struct {
  int file;
  uint64_t blocks, groups, descriptor_blocks, free_blocks;
  unsigned char *descriptors;
} disk;

static void put16(unsigned char *at, uint64_t value) {
  at[0] = (unsigned char)value;
  at[1] = (unsigned char)(value >> 8);
}

static void put32(unsigned char *at, uint64_t value) {
  put16(at, value);
  put16(at + 2, value >> 16);
}

static void put_at(uint64_t offset, const void *data, size_t size) {
  if (pwrite(disk.file, data, size, (off_t)offset) != (ssize_t)size) fail("cannot format the disk: %s", strerror(errno));
}

static bool power_of(uint64_t number, uint64_t base) {
  while (number % base == 0) number /= base;
  return number == 1;
}

/* Blocks before a group's bitmaps: room for copies of the superblock and the descriptors, where ext4 expects them. */
static uint64_t head_blocks(uint64_t group) {
  bool copies = group < 2 || power_of(group, 3) || power_of(group, 5) || power_of(group, 7);
  return copies ? 1 + disk.descriptor_blocks : 0;
}

static uint64_t used_blocks(uint64_t group) { return head_blocks(group) + 2 + TABLE_BLOCKS + (group == 0); }

static uint64_t group_size(uint64_t group) {
  uint64_t start = group * GROUP_BLOCKS;
  return disk.blocks - start < GROUP_BLOCKS ? disk.blocks - start : GROUP_BLOCKS;
}

static void set_bits(unsigned char *bitmap, uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to; i++) bitmap[i / 8] |= (unsigned char)(1 << i % 8);
}

static void write_group(uint64_t group) {
  unsigned char bitmap[BLOCK] = {0}, *descriptor = disk.descriptors + group * 32;
  uint64_t start = group * GROUP_BLOCKS, at = start + head_blocks(group), size = group_size(group), used = used_blocks(group);
  set_bits(bitmap, 0, used);
  set_bits(bitmap, size, GROUP_BLOCKS);
  put_at(at * BLOCK, bitmap, sizeof bitmap);
  memset(bitmap, 0, sizeof bitmap);
  if (group == 0) set_bits(bitmap, 0, FIRST_INODE - 1);
  set_bits(bitmap, GROUP_INODES, BLOCK * 8);
  put_at((at + 1) * BLOCK, bitmap, sizeof bitmap);
  put32(descriptor, at);
  put32(descriptor + 4, at + 1);
  put32(descriptor + 8, at + 2);
  put16(descriptor + 12, size - used);
  put16(descriptor + 14, group == 0 ? GROUP_INODES - FIRST_INODE + 1 : GROUP_INODES);
  put16(descriptor + 16, group == 0);
  disk.free_blocks += size - used;
}

static void write_root(uint64_t owner, uint64_t group_owner) {
  unsigned char inode[INODE] = {0}, folder[BLOCK] = {0};
  uint64_t table = head_blocks(0) + 2, data = table + TABLE_BLOCKS, time_now = (uint64_t)time(NULL);
  put16(inode, 040755);
  put16(inode + 2, owner);
  put32(inode + 4, BLOCK);
  for (int i = 8; i <= 16; i += 4) put32(inode + i, time_now);
  put16(inode + 24, group_owner);
  put16(inode + 26, 2);
  put32(inode + 28, BLOCK / 512);
  /* Extents: a header, and one extent of one block. */
  put32(inode + 32, 0x80000);
  put16(inode + 40, 0xf30a);
  put16(inode + 42, 1);
  put16(inode + 44, 4);
  put16(inode + 56, 1);
  put32(inode + 60, data);
  put16(inode + 120, owner >> 16);
  put16(inode + 122, group_owner >> 16);
  put16(inode + 128, 32);
  put_at(table * BLOCK + (ROOT_INODE - 1) * INODE, inode, sizeof inode);
  put32(folder, ROOT_INODE);
  put16(folder + 4, 12);
  memcpy(folder + 6, "\001\002.", 3);
  put32(folder + 12, ROOT_INODE);
  put16(folder + 16, BLOCK - 12);
  memcpy(folder + 18, "\002\002..", 4);
  put_at(data * BLOCK, folder, sizeof folder);
}

static void write_superblock(void) {
  unsigned char block[1024] = {0};
  uint64_t time_now = (uint64_t)time(NULL);
  const struct { int at; uint64_t value; } words[] = {
      {0, disk.groups * GROUP_INODES}, {4, disk.blocks}, {12, disk.free_blocks}, {16, disk.groups * GROUP_INODES - FIRST_INODE + 1},
      {24, 2}, {28, 2}, {32, GROUP_BLOCKS}, {36, GROUP_BLOCKS}, {40, GROUP_INODES}, {48, time_now}, {64, time_now}, {76, 1}, {84, FIRST_INODE},
      /* ext_attr, dir_index; filetype, extents; sparse_super, large_file, huge_file, dir_nlink, extra_isize. */
      {92, 0x28}, {96, 0x42}, {100, 0x6b}, {352, 1}};
  const struct { int at; uint64_t value; } halves[] = {{54, 0xffff}, {56, 0xef53}, {58, 1}, {60, 1}, {88, INODE}, {348, 32}, {350, 32}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) put32(block + words[i].at, words[i].value);
  for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) put16(block + halves[i].at, halves[i].value);
  /* The identity and the seed of folders' hashes (half MD4). */
  if (getrandom(block + 104, 16, 0) != 16 || getrandom(block + 236, 16, 0) != 16) fail("cannot format the disk: no random numbers");
  block[252] = 1;
  put_at(1024, block, sizeof block);
}

void format_disk(int file, unsigned long long bytes, unsigned long long owner, unsigned long long group_owner) {
  disk.file = file;
  disk.blocks = bytes / BLOCK;
  disk.groups = (disk.blocks + GROUP_BLOCKS - 1) / GROUP_BLOCKS;
  disk.descriptor_blocks = (disk.groups * 32 + BLOCK - 1) / BLOCK;
  if (disk.groups == 0 || disk.groups > 1 << 17) fail("cannot format a disk of %llu bytes", bytes);
  /* A last group without room for its own tables is left out. */
  if (group_size(disk.groups - 1) < used_blocks(disk.groups - 1) + 64) disk.blocks = --disk.groups * GROUP_BLOCKS;
  if (disk.groups == 0) fail("cannot format a disk of %llu bytes: it needs 4 MiB", bytes);
  size_t size = disk.descriptor_blocks * BLOCK;
  disk.descriptors = calloc(1, size);
  if (!disk.descriptors) fail("no memory to format the disk");
  for (uint64_t group = 0; group < disk.groups; group++) write_group(group);
  write_root(owner, group_owner);
  put_at(BLOCK, disk.descriptors, size);
  write_superblock();
  free(disk.descriptors);
}
